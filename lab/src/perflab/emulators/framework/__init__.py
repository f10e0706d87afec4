"""The building blocks of emulators: stores of watched objects, controllers, steps."""
