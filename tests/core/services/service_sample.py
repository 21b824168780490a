"""Plays a service: ``service_sample.py PORT [behaviour]...``."""

import http.server
import os
import signal
import subprocess
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status = 503 if "unhealthy" in sys.argv else 200
        self.send_response(status)
        self.end_headers()
        self.wfile.write(f"{os.getpid()} {os.environ.get('COLOUR')} {os.environ.get('GAVEL_SUPERVISOR')}".encode())

    def log_message(self, *arguments: object) -> None:
        pass


if __name__ == "__main__":
    if "die" in sys.argv:
        print("loading the model\ncannot load the model: no such file", flush=True)
        sys.exit(3)
    if "stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "brood" in sys.argv:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
        print("child", child.pid, flush=True)
    if "late" in sys.argv:
        time.sleep(300)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    server.serve_forever()
