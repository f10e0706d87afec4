"""What all emulators are made of: stores of watched objects, controllers, steps."""
