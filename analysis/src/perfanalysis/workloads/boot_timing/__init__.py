"""The kind of recordings of the times of a boot, as systemd reports them."""
