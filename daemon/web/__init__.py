"""The page and the HTTP gateway: another way in than MQTT, with the same requests and the same results."""
