"""How the device appears in Home Assistant by itself: MQTT discovery."""
