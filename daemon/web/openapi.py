"""The gateway's description for programs (OpenAPI 3.1), from the very types that judge requests."""

from typing import Any

import msgspec

from daemon import __version__
from daemon.mqtt.controls import SETTINGS
from daemon.mqtt.intake import FIELDS
from daemon.mqtt.messages import Result, State
from daemon.synthesis.engine import VoiceInfo
from daemon.web.announcements import MAX_RECENT, VERBS, Cancel, Setting
from daemon.web.sound import FORMATS
from daemon.web.speech import SpeechRequest

_REF = "#/components/schemas/{name}"
_REFUSED = {
    "400": "the request is wrong",
    "401": "the token is missing",
    "403": "another site's page asks",
    "413": "it is too large",
    "415": "it has another type",
    "429": "too much at once",
    "503": "not now",
    "504": "not in time",
}
_SOMETIMES = {"404": "there is none of this name", "409": "it is not possible now"}


def document(max_text_length: int) -> dict[str, Any]:
    """The whole document."""
    structs = (Result, State, VoiceInfo, SpeechRequest, Setting, Cancel)
    fields, components = msgspec.json.schema_components([*FIELDS.values(), *structs], ref_template=_REF)
    say = _say(dict(zip(FIELDS, fields, strict=False)), max_text_length)
    error = _object({"error": {"type": "string"}, "code": {"type": "string"}}, ["error", "code"])
    return {
        "openapi": "3.1.0",
        "info": {"title": "cosyvoiced", "version": __version__, "license": {"name": "Apache-2.0"}},
        "paths": {**_speech(say), **_page()},
        "components": {
            "schemas": {**components, "Say": say, "Error": error},
            "responses": {
                f"E{status}": {"description": why, "content": _json(_ref("Error"))}
                for status, why in {**_REFUSED, **_SOMETIMES}.items()
            },
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "session"},
            },
        },
        "security": [{}, {"token": []}, {"session": []}],
    }


def _say(fields: dict[str, Any], max_text_length: int) -> dict[str, Any]:
    text = {"type": "string", "minLength": 1, "maxLength": 10 * max_text_length}
    text["description"] = f"at most {max_text_length} characters once it is cleaned"
    return {**_object({**fields, "text": text}, ["text"]), "additionalProperties": False}


def _speech(say: dict[str, Any]) -> dict[str, Any]:
    wav = {"audio/wav": {"schema": {"type": "string", "format": "binary"}}}
    generated = {"description": "the speech, or how it ended", "content": {**wav, **_json(_with_url())}}
    sounds = {
        kind.media_type: {"schema": {"type": "string", "format": "binary"}} for kind in FORMATS.values()
    }
    form = {"name": "format", "in": "query", "schema": {"enum": ["wav", "json"]}}
    query = [
        {"name": name, "in": "query", "required": name == "text", "schema": schema}
        for name, schema in say["properties"].items()
    ]
    return {
        "/cosyvoice/preset": {"get": _operation("the styles", _ok(_list(_preset("value"))))},
        "/cosyvoice/generate": {
            "get": _operation("speak", {"200": generated, **_errors(409)}, parameters=[*query, form]),
            "post": _operation("speak", {"200": generated, **_errors(409)}, _ref("Say"), parameters=[form]),
        },
        "/v1/audio/speech": {
            "post": _operation(
                "speak, as OpenAI's clients ask",
                {"200": {"description": "the speech", "content": sounds}},
                _ref("SpeechRequest"),
            )
        },
        "/v1/audio/voices": {"get": _operation("the voices", _ok({"type": "object"}))},
        "/v1/models": {"get": _operation("one model and its names", _ok({"type": "object"}))},
    }


def _page() -> dict[str, Any]:
    limit = {
        "name": "limit",
        "in": "query",
        "schema": {"type": "integer", "minimum": 1, "maximum": MAX_RECENT},
    }
    waiting = _object({"current": {"type": ["object", "null"]}, "waiting": _list({"type": "object"})})
    accepted = {"202": {"description": "accepted", "content": _json(_object({"id": {"type": "string"}}))}}
    return {
        "/api/say": {"post": _operation("announce", {**accepted, **_errors(409)}, _ref("Say"))},
        "/api/state": {"get": _operation("how the device is", _ok(_ref("State")))},
        "/api/queue": {"get": _operation("what waits", _ok(waiting))},
        "/api/recent": {
            "get": _operation("how the last ended", _ok(_list(_ref("Result"))), parameters=[limit])
        },
        "/api/voices": {"get": _operation("the voices", _ok(_list(_ref("VoiceInfo"))))},
        "/api/styles": {"get": _operation("the styles", _ok(_list(_preset("name"))))},
        "/api/settings/{name}": {
            "put": _operation(
                "change a setting",
                {**_ok({"type": "object"}), **_errors(404)},
                _ref("Setting"),
                parameters=[_path("name", SETTINGS)],
            )
        },
        "/api/command/cancel": {
            "post": _operation("cancel one", {**_ok({"type": "object"}), **_errors(409)}, _ref("Cancel"))
        },
        "/api/command/{verb}": {
            "post": _operation(
                "stop, clear, pause, resume, replay",
                {**_ok({"type": "object"}), **_errors(404, 409)},
                parameters=[_path("verb", [verb for verb in VERBS if verb != "cancel"])],
            )
        },
        "/metrics": {
            "get": _operation(
                "for Prometheus",
                {"200": {"description": "text", "content": {"text/plain": {"schema": {"type": "string"}}}}},
            )
        },
    }


def _operation(summary: str, responses: dict[str, Any], body: Any = None, **more: Any) -> dict[str, Any]:
    request = {"requestBody": {"required": True, "content": _json(body)}} if body is not None else {}
    return {"summary": summary, **request, **more, "responses": {**responses, **_errors(*map(int, _REFUSED))}}


def _errors(*statuses: int) -> dict[str, Any]:
    conflict = {"409": {"description": "it is not possible now", "content": _json(_ref("Error"))}}
    known = {
        f"{status}": {"$ref": f"#/components/responses/E{status}"} for status in statuses if status != 409
    }
    return {**known, **(conflict if 409 in statuses else {})}


def _ok(schema: dict[str, Any]) -> dict[str, Any]:
    return {"200": {"description": "done", "content": _json(schema)}}


def _with_url() -> dict[str, Any]:
    return {"allOf": [_ref("Result"), _object({"url": {"type": ["string", "null"]}}, ["url"])]}


def _preset(name: str) -> dict[str, Any]:
    return _object(
        {key: {"type": "string"} for key in (name, "label", "label_zh")}, [name, "label", "label_zh"]
    )


def _path(name: str, values: Any) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"enum": list(values)}}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required or list(properties)}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": _REF.format(name=name)}
