"""What this machine has of what a bring-up needs: buses, rights, a gamepad."""
