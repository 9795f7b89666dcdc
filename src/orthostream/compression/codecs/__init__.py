"""Ways of coding: each turns samples into payloads and payloads into samples, with a state that both sides hold."""
