"""The topics, the broker link and the defaults of a request as the configuration has them."""

import socket
from collections.abc import Iterable, Mapping
from typing import Any

from daemon import configfile
from daemon.audio import chime
from daemon.config import Config
from daemon.hermes import intake as hermes
from daemon.homeassistant import discovery
from daemon.mqtt import topics as topic_tree
from daemon.mqtt.intake import Defaults
from daemon.mqtt.settings import LinkSettings, Tls, Will
from daemon.storage.settings import Settings
from daemon.synthesis.engine import VoiceInfo


def node(config: Config) -> str:
    return config.mqtt.node or topic_tree.node_from_host(socket.gethostname())


def topics(config: Config) -> topic_tree.Topics:
    return topic_tree.Topics(config.mqtt.base_topic, node(config), config.mqtt.groups)


def subscriptions(config: Config) -> tuple[str, ...]:
    """Every topic filter that this configuration listens to."""
    site, homeassistant = hermes_site(config), config.homeassistant
    return (
        *topics(config).subscriptions,
        *((discovery.birth_topic(homeassistant.prefix),) if homeassistant.discovery else ()),
        *(hermes.subscriptions(site) if site is not None else ()),
    )


def hermes_site(config: Config) -> str | None:
    """The site that this device is to Rhasspy; None where it does not listen to Hermes."""
    return (config.hermes.site_id or node(config)) if config.hermes.enabled else None


def discovery_topic(config: Config) -> str:
    return discovery.topic(config.homeassistant.prefix, node(config))


def discovery_message(config: Config, voices: Iterable[str]) -> dict[str, Any]:
    """What Home Assistant is told of this device; `voices` by name."""
    return discovery.message(topics(config), voices, config.limits.max_text_length, config.language)


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


def defaults(config: Config, settings: Settings, voices: Mapping[str, VoiceInfo]) -> Defaults:
    """What a request takes where it says nothing; `settings` are what users set meanwhile."""
    voice = settings.voice or config.voice
    named = config.speaker.chime
    return Defaults(
        style=settings.style or config.style,
        voice=None if voice == "auto" else voice,
        language=config.language,
        seed=config.seed,
        chime=(named if isinstance(named, str) else chime.names()[0]) if named else None,
        default_chime=named if isinstance(named, str) else chime.names()[0],
        ttl_s=config.limits.ttl_s,
        max_text_length=config.limits.max_text_length,
        voices=voices,
        chimes=chime.names(),
        base_topic=config.mqtt.base_topic,
    )
