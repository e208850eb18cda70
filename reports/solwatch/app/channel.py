"""Messages over a socket between the application and its processes: a length, then msgpack."""

import contextlib
import socket
import struct
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")
_LENGTH = struct.Struct("!I")


class ChannelClosed(Exception):
    """The other end is gone."""


class ChannelTimeout(Exception):
    """The other end said nothing in time."""


class Channel(Generic[T]):
    """One end of a socket pair that receives messages of one type."""

    def __init__(self, connection: socket.socket, receives: Any) -> None:
        """Take over ``connection``; ``receives`` is the message type, a union of tagged structs as a rule."""
        self._socket = connection
        self._decoder: msgspec.msgpack.Decoder[T] = msgspec.msgpack.Decoder(receives)

    def fileno(self) -> int:
        """Return the descriptor, so that it can be handed to a child."""
        return self._socket.fileno()

    def send(self, message: msgspec.Struct, *, descriptors: tuple[int, ...] = ()) -> None:
        """Send one message, with open file descriptors beside it; raises ``ChannelClosed``."""
        payload = msgspec.msgpack.encode(message)
        try:
            if descriptors:
                socket.send_fds(self._socket, [_LENGTH.pack(len(payload))], list(descriptors))
                self._socket.sendall(payload)
            else:
                self._socket.sendall(_LENGTH.pack(len(payload)) + payload)
        except OSError as error:
            raise ChannelClosed(str(error)) from None

    def receive(self, timeout_s: float | None = None) -> T:
        """Wait for one message; raises ``ChannelTimeout`` after ``timeout_s`` and ``ChannelClosed`` at its end."""
        return self._decoder.decode(self._body(self._exactly(_LENGTH.size, timeout_s), timeout_s))

    def receive_with_descriptors(self, count: int) -> tuple[T, list[int]]:
        """Wait for one message that may come with up to ``count`` descriptors."""
        self._socket.settimeout(None)
        head, descriptors, _, _ = socket.recv_fds(self._socket, _LENGTH.size, count)
        if not head:
            raise ChannelClosed("end of stream")
        head += self._exactly(_LENGTH.size - len(head), None)
        return self._decoder.decode(self._body(head, None)), list(descriptors)

    def shut(self) -> None:
        """End the conversation for both ends, whoever is waiting: they see ``ChannelClosed``."""
        with contextlib.suppress(OSError):  # closed already, here or there
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close this end; the other one sees ``ChannelClosed``."""
        self._socket.close()

    def _body(self, head: bytes, timeout_s: float | None) -> bytes:
        return self._exactly(_LENGTH.unpack(head)[0], timeout_s)

    def _exactly(self, size: int, timeout_s: float | None) -> bytes:
        self._socket.settimeout(timeout_s)
        parts = bytearray()
        try:
            while len(parts) < size:
                part = self._socket.recv(size - len(parts))
                if not part:
                    raise ChannelClosed("end of stream")
                parts += part
        except TimeoutError:
            raise ChannelTimeout(f"nothing heard for {timeout_s:g} s") from None
        except OSError as error:
            raise ChannelClosed(str(error)) from None
        return bytes(parts)
