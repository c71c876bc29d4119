"""The topics and the broker link as the configuration has them."""

import socket

from daemon import configfile
from daemon.config import Config
from daemon.mqtt import topics as topic_tree
from daemon.mqtt.settings import LinkSettings, Tls, Will


def node(config: Config) -> str:
    return config.mqtt.node or topic_tree.node_from_host(socket.gethostname())


def topics(config: Config) -> topic_tree.Topics:
    return topic_tree.Topics(config.mqtt.base_topic, node(config), config.mqtt.groups)


def link_settings(config: Config, host: str, port: int) -> LinkSettings:
    """How this configuration reaches its broker. Raises `ConfigError` when the password cannot be read."""
    mqtt = config.mqtt
    return LinkSettings(
        host=host,
        port=port,
        client_id=f"cosyvoiced-{node(config)}",
        username=mqtt.username,
        password=configfile.mqtt_password(config),
        tls=Tls(mqtt.tls.ca_file, mqtt.tls.cert_file, mqtt.tls.key_file) if mqtt.tls else None,
        will=Will(topics(config).availability, b"offline"),
        keepalive_s=mqtt.keepalive_s,
        session_expiry_s=mqtt.session_expiry_s,
    )
