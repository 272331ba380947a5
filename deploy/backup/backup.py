"""Backups of one PostgreSQL server, by Barman.

  backup.py                      streams the WAL all the time, makes a base backup each night, drops what is older than
                                 BACKUP_DAYS, and serves the age of both at :9187/metrics
  backup.py now                  makes a base backup
  backup.py restore DIR [TIME]   makes DIR a data directory that recovers to TIME, or to the last WAL that was streamed

libpq's variables (PGHOST, PGUSER, PGPASSWORD, PGSSLMODE...) name the server, BACKUP_NAME the backups.
"""

import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone

home = pathlib.Path(os.environ.get("BACKUP_HOME", "/var/lib/barman"))
name = os.environ.get("BACKUP_NAME", "amanah")
days = int(os.environ.get("BACKUP_DAYS", "14"))
hour = int(os.environ.get("BACKUP_HOUR_UTC", "19"))
port = int(os.environ.get("BACKUP_METRICS_PORT", "9187"))
settings = home / "barman.conf"
measured = {"backup": 0.0, "wal": 0.0}

configuration = f"""
[barman]
barman_home = {home}
barman_user = {os.environ.get("USER") or subprocess.check_output(["id", "-un"], text=True).strip()}
configuration_files_directory = {home}/none
log_file = {home}/barman.log
log_level = WARNING
[{name}]
conninfo = dbname=postgres
streaming_conninfo = dbname=postgres
backup_method = postgres
streaming_archiver = on
create_slot = auto
slot_name = {name}_backup
retention_policy = RECOVERY WINDOW OF {days} DAYS
minimum_redundancy = 1
"""


def barman(*args: str, quietly: bool = False) -> str | None:
    """What the command prints, or None when it fails; then its complaint is in the log of this process."""
    done = subprocess.run(["barman", "-c", str(settings), *args], capture_output=True, text=True)
    if done.returncode == 0:
        return done.stdout
    if not quietly:
        print(f"barman {' '.join(args)}: {done.stdout}{done.stderr}", file=sys.stderr, flush=True)
    return None


def listed() -> list[dict]:
    """The good backups, the newest first."""
    told = barman("-f", "json", "list-backups", name)
    good = [backup for backup in json.loads(told or "{}").get(name, []) if backup["status"] == "DONE"]
    return sorted(good, key=lambda backup: float(backup["end_time_timestamp"]), reverse=True)


def shown(backup: str) -> dict:
    return json.loads(barman("-f", "json", "show-backup", name, backup) or "{}").get(name, {})


def newest_backup() -> float:
    """When the newest good base backup ended, in seconds; 0 without one."""
    return next((float(backup["end_time_timestamp"]) for backup in listed()), 0.0)


def last_night() -> float:
    now = datetime.now(timezone.utc)
    night = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    return (night if night <= now else night - timedelta(days=1)).timestamp()


def back_up() -> bool:
    # A base backup waits for the first WAL to arrive, which an idle server does not finish by itself.
    barman("switch-wal", "--force", "--archive", name)
    return barman("backup", "--wait", "--wait-timeout", "3600", name) is not None


def keep() -> None:
    """Every minute: WAL into the archive, the stream started anew when it ended, old backups dropped; each night a backup."""
    serve()
    while True:
        barman("cron")
        measured["backup"] = newest_backup()
        if measured["backup"] < last_night() and back_up():
            measured["backup"] = newest_backup()
        if barman("check", name):
            measured["wal"] = time.time()
        time.sleep(60)


class Metrics(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/plain; version=0.0.4")
        self.end_headers()
        for what, at in measured.items():
            self.wfile.write(f'amanah_{what}_kept_timestamp_seconds{{server="{name}"}} {at}\n'.encode())

    def log_message(self, *_: object) -> None:
        pass


def serve() -> None:
    server = http.server.ThreadingHTTPServer(("", port), Metrics)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def restore(directory: pathlib.Path, moment: str | None) -> bool:
    if directory.exists() and any(directory.iterdir()):
        sys.exit(f"{directory} is not empty: stop its server and move it away")
    barman("archive-wal", name)
    before = datetime.fromisoformat(moment).timestamp() if moment else time.time()
    good = [backup for backup in listed() if float(backup["end_time_timestamp"]) <= before]
    if not good or barman("verify-backup", name, good[0]["backup_id"]) is None:
        sys.exit("there is no good backup before that time")
    first = shown(good[0]["backup_id"])["base_backup_information"]["begin_wal"]
    shutil.copytree(home / name / "base" / good[0]["backup_id"] / "data", directory, symlinks=True, dirs_exist_ok=True)
    wal = directory / "restored_wal"
    wal.mkdir()
    for segment in (home / name / "wals").rglob("*"):
        # Behind its timeline, a name grows with the WAL; histories of timelines are short.
        if segment.is_file() and segment.name != "xlog.db" and (segment.suffix or segment.name[8:] >= first[8:]):
            shutil.copy(segment, wal)
    for partial in (home / name / "streaming").glob("*.partial"):
        shutil.copy(partial, wal / partial.stem)
    target = f"recovery_target_time = '{moment}'\nrecovery_target_action = 'promote'\n" if moment else ""
    # Relative to the data directory, which may be moved.
    settings = f"restore_command = 'cp restored_wal/%f \"%p\"'\nrecovery_end_command = 'rm -r restored_wal'\n{target}"
    written = directory / "postgresql.auto.conf"
    # A server that was restored itself still has what it was restored with.
    kept = [line for line in written.read_text().splitlines() if not line.startswith(("restore_command", "recovery_"))]
    written.write_text("\n".join(kept) + "\n" + settings)
    (directory / "recovery.signal").touch()
    directory.chmod(0o700)
    print(f"{directory}: backup {good[0]['backup_id']}, start the server on it")
    return True


def end(*_: object) -> None:
    barman("receive-wal", "--stop", name, quietly=True)
    sys.exit(0)


def main(words: list[str]) -> None:
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    home.mkdir(parents=True, exist_ok=True)
    settings.write_text(configuration)
    match words:
        case []:
            keep()
        case ["now"]:
            sys.exit(0 if back_up() else 1)
        case ["restore", directory, *moment] if len(moment) < 2:
            sys.exit(0 if restore(pathlib.Path(directory), moment[0] if moment else None) else 1)
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
