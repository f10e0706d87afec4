"""The lab's control plane: its programs and certificates; create, delete, scale and restart a lab."""
