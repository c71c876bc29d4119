"""The Wyoming server: Home Assistant's voice assistant and `tts.speak` use the device's voices."""
