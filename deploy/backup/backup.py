"""Backups of one PostgreSQL server, by Barman.

  backup.py                      streams the WAL continuously, makes a base backup each night, deletes those older than
                                 BACKUP_DAYS, and serves the age of WAL and backup at :9187/metrics
  backup.py now                  makes a base backup
  backup.py copy                 makes the off-site copies now
  backup.py restore DIR [TIME]   makes DIR a data directory that recovers to TIME, or to the last streamed WAL
  backup.py fetch DIR [TIME]     the same from the copies in BACKUP_S3, if the backup volume is lost, too

libpq's variables (PGHOST, PGUSER, PGPASSWORD, PGSSLMODE...) name the server, BACKUP_NAME the backups. With BACKUP_S3
(s3://bucket/path, and the AWS SDK's own variables AWS_*) everything is copied off site: each base backup, and the WAL
within a quarter of an hour.
"""

import gzip
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
elsewhere = os.environ.get("BACKUP_S3", "").rstrip("/")
for empty in [key for key, value in os.environ.items() if key.startswith("AWS_") and not value]:
    # The SDK would use an empty value.
    del os.environ[empty]
settings = home / "barman.conf"
# Holds the copy's address and its last WAL segment.
copied = home / f"{name}-copied"
measured = {"backup": 0.0, "wal": 0.0} | ({"copy": 0.0} if elsewhere else {})

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


def run(*command: str, quietly: bool = False, env: dict[str, str] | None = None) -> str | None:
    """Returns the command's output, or None if it fails; then logs the error, unless ``quietly``."""
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | (env or {}))
    if done.returncode == 0:
        return done.stdout
    if not quietly:
        print(f"{' '.join(command)}: {done.stdout}{done.stderr}", file=sys.stderr, flush=True)
    return None


def barman(*args: str, quietly: bool = False) -> str | None:
    return run("barman", "-c", str(settings), *args, quietly=quietly)


def listed() -> list[dict]:
    """Completed backups, newest first."""
    told = barman("-f", "json", "list-backups", name)
    good = [backup for backup in json.loads(told or "{}").get(name, []) if backup["status"] == "DONE"]
    return sorted(good, key=lambda backup: float(backup["end_time_timestamp"]), reverse=True)


def archived() -> list[pathlib.Path]:
    """Archived WAL segments and timeline histories, oldest first."""
    files = [file for file in (home / name / "wals").rglob("*") if file.is_file() and file.suffix != ".db"]
    return sorted(files, key=lambda file: file.name)


def copy() -> bool:
    """Copies the newest base backup and, in order, the WAL not yet copied off site; deletes expired copies there."""
    barman("switch-wal", "--force", "--archive", "--archive-timeout", "60", name)
    newest = next(iter(listed()), None)
    there = listed_elsewhere()
    if there is None:
        return False
    if newest and newest["backup_id"] not in [backup["backup_id"] for backup in there]:
        # The hook that Barman's documentation runs once after a backup; here it is retried until the copy exists.
        hook = {"HOOK": "backup_script", "PHASE": "post", "STATUS": "DONE", "BACKUP_ID": newest["backup_id"]}
        facts = home / name / "meta" / f"{newest['backup_id']}-backup.info"
        hook |= {"BACKUP_DIR": str(home / name / "base" / newest["backup_id"]), "BACKUP_INFO_PATH": str(facts)}
        env = {f"BARMAN_{key}": value for key, value in hook.items()}
        if run("barman-cloud-backup", "--gzip", elsewhere, name, env=env) is None:
            return False
    place, _, last = copied.read_text().partition("\n") if copied.exists() else ("", "", "")
    for segment in archived():
        if place != elsewhere or segment.name > last:
            if run("barman-cloud-wal-archive", "--gzip", elsewhere, name, str(segment)) is None:
                return False
            place, last = elsewhere, segment.name
            copied.write_text(f"{place}\n{last}")
    policy = ["--retention-policy", f"RECOVERY WINDOW OF {days} DAYS", "--minimum-redundancy", "1"]
    return run("barman-cloud-backup-delete", *policy, elsewhere, name) is not None


def listed_elsewhere() -> list[dict] | None:
    """Completed copies of base backups, newest first; None if they cannot be read."""
    told = run("barman-cloud-backup-list", "--format", "json", elsewhere, name)
    if told is None:
        return None
    good = [backup for backup in json.loads(told)["backups_list"] if backup["status"] == "DONE"]
    return sorted(good, key=lambda backup: backup["backup_id"], reverse=True)


def shown(backup: str) -> dict:
    return json.loads(barman("-f", "json", "show-backup", name, backup) or "{}").get(name, {})


def newest_backup() -> float:
    """When the newest base backup completed, in seconds; 0 if there is none."""
    return next((float(backup["end_time_timestamp"]) for backup in listed()), 0.0)


def last_night() -> float:
    now = datetime.now(timezone.utc)
    night = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    return (night if night <= now else night - timedelta(days=1)).timestamp()


def back_up() -> bool:
    # A base backup waits for its first WAL segment, which an idle server does not complete by itself.
    barman("switch-wal", "--force", "--archive", name)
    return barman("backup", "--wait", "--wait-timeout", "3600", name) is not None


def keep() -> None:
    """Each minute archives WAL, restarts a broken stream and deletes expired backups; each night makes a backup."""
    serve()
    if elsewhere:
        threading.Thread(target=keep_copied, daemon=True).start()
    while True:
        barman("cron")
        measured["backup"] = newest_backup()
        if measured["backup"] < last_night() and back_up():
            measured["backup"] = newest_backup()
        if barman("check", name):
            measured["wal"] = time.time()
        time.sleep(60)


def keep_copied() -> None:
    """Runs in its own thread, because copying a base backup may take hours."""
    while True:
        done = newest_backup() > 0 and copy()
        if done:
            measured["copy"] = time.time()
        time.sleep(900 if done else 20)


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


def restore(directory: pathlib.Path, moment: str | None) -> None:
    refuse_full(directory)
    barman("archive-wal", name)
    before = datetime.fromisoformat(moment).timestamp() if moment else time.time()
    good = [backup for backup in listed() if float(backup["end_time_timestamp"]) <= before]
    if not good or barman("verify-backup", name, good[0]["backup_id"]) is None:
        sys.exit("there is no good backup before that time")
    first = shown(good[0]["backup_id"])["base_backup_information"]["begin_wal"]
    shutil.copytree(home / name / "base" / good[0]["backup_id"] / "data", directory, symlinks=True, dirs_exist_ok=True)
    wal = directory / "restored_wal"
    wal.mkdir()
    for segment in archived():
        if is_since(first, segment.name):
            shutil.copy(segment, wal)
    for partial in (home / name / "streaming").glob("*.partial"):
        shutil.copy(partial, wal / partial.stem)
    make_recover(directory, moment, good[0]["backup_id"])


def fetch(directory: pathlib.Path, moment: str | None) -> None:
    refuse_full(directory)
    before = datetime.fromisoformat(moment).timestamp() if moment else time.time()
    there = listed_elsewhere() or []
    good = [backup for backup in there if datetime.fromisoformat(backup["end_time_iso"]).timestamp() <= before]
    if not good or run("barman-cloud-restore", elsewhere, name, good[0]["backup_id"], str(directory)) is None:
        sys.exit("there is no good backup before that time")
    if run("pg_verifybackup", "--no-parse-wal", "--ignore=pg_wal", "--ignore=log", str(directory)) is None:
        sys.exit("the copy of the backup is damaged")
    wal = directory / "restored_wal"
    wal.mkdir()
    import boto3  # Only off-site copies need it.

    bucket, _, path = elsewhere.removeprefix("s3://").partition("/")
    kept = boto3.resource("s3").Bucket(bucket)
    for found in kept.objects.filter(Prefix=f"{path}/{name}/wals/".lstrip("/")):
        segment = found.key.rsplit("/", 1)[1].removesuffix(".gz")
        if is_since(good[0]["begin_wal"], segment):
            (wal / segment).write_bytes(gzip.decompress(found.get()["Body"].read()))
    make_recover(directory, moment, good[0]["backup_id"])


def refuse_full(directory: pathlib.Path) -> None:
    if directory.exists() and any(directory.iterdir()):
        sys.exit(f"{directory} is not empty: stop its server and move it away")


def is_since(first: str, segment: str) -> bool:
    """Without the timeline at their start, segment names increase with the WAL; timeline histories are always needed."""
    return "." in segment or segment[8:] >= first[8:]


def make_recover(directory: pathlib.Path, moment: str | None, backup: str) -> None:
    target = f"recovery_target_time = '{moment}'\nrecovery_target_action = 'promote'\n" if moment else ""
    # Relative to the data directory, which may be moved.
    settings = f"restore_command = 'cp restored_wal/%f \"%p\"'\nrecovery_end_command = 'rm -r restored_wal'\n{target}"
    written = directory / "postgresql.auto.conf"
    # A server that was itself restored still has the settings of that restore.
    kept = [line for line in written.read_text().splitlines() if not line.startswith(("restore_command", "recovery_"))]
    written.write_text("\n".join(kept) + "\n" + settings)
    (directory / "recovery.signal").touch()
    directory.chmod(0o700)
    print(f"{directory}: backup {backup}, start the server on it")


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
            restore(pathlib.Path(directory), moment[0] if moment else None)
        case ["fetch", directory, *moment] if len(moment) < 2 and elsewhere:
            fetch(pathlib.Path(directory), moment[0] if moment else None)
        case ["copy"] if elsewhere:
            sys.exit(0 if copy() else 1)
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
