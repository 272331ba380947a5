import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { downloadBySdk, findDownloaded } from './sdk-download.ts';
import { StackError } from './stack-error.ts';
import { findExecutable } from './temporal-binary.ts';
import { userCacheDirectory } from './user-cache.ts';

/** The version of `io.temporal:temporal-test-server`, the Java server that skips workflow time. */
const artifactVersion = '1.32.1';
const mavenTimeoutMs = 10 * 60_000;
const firstStartMs = 8_000;

/**
 * Returns the path of the time-skipping test server: downloaded or fetched earlier, downloaded now by the SDK, or
 * fetched by Maven with Java. Throws StackError if none of these works.
 */
export async function findTimeSkippingServer(say: (sentence: string) => void): Promise<string> {
  const found = findDownloaded('time-skipping') ?? findFetched();
  if (found) return found;
  say('not here yet: asking the Temporal SDK to download it (once for this user)');
  const downloaded = await downloadBySdk('time-skipping');
  if (downloaded) return downloaded;
  const maven = findExecutable('java') && findExecutable('mvn');
  if (!maven) {
    throw new StackError(
      'The time-skipping test server could not be downloaded, and there is no Maven with Java to fetch it.',
    );
  }
  say('the download did not start; fetching it by Maven instead (once for this user)');
  return fetchByMaven(maven);
}

const fetchedDirectory = () => join(userCacheDirectory(), `time-skipping-${artifactVersion}-3`);
const wrapperName = 'time-skipping-server';

function findFetched(): string | null {
  const wrapper = join(fetchedDirectory(), wrapperName);
  return existsSync(wrapper) ? wrapper : null;
}

/** Fetches into a private directory and moves it when complete: two test runs may fetch at once. */
async function fetchByMaven(maven: string): Promise<string> {
  mkdirSync(userCacheDirectory(), { recursive: true });
  const draft = mkdtempSync(join(userCacheDirectory(), 'fetching-'));
  try {
    writeFileSync(join(draft, 'pom.xml'), projectFile);
    const complaint = await runMaven(maven, draft);
    if (complaint !== null)
      throw new StackError(`The time-skipping test server could not be fetched by Maven: ${complaint}`);
    writeFileSync(join(draft, wrapperName), wrapperScript, { mode: 0o755 });
    // A first start that shuts down cleanly caches the server's classes: later starts take a third of the time.
    spawnSync(join(draft, wrapperName), ['0'], { timeout: firstStartMs });
    if (!findFetched()) {
      rmSync(fetchedDirectory(), { recursive: true, force: true });
      renameSync(draft, fetchedDirectory());
    }
    return join(fetchedDirectory(), wrapperName);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

const projectFile = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>amanah</groupId>
  <artifactId>time-skipping</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${artifactVersion}</version>
    </dependency>
  </dependencies>
</project>
`;

/** Stops the server when the process that started it exits for any reason: nothing else would. */
const wrapperScript = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
starter=$PPID
( while kill -0 "$starter" 2>/dev/null && kill -0 $$ 2>/dev/null; do sleep 1; done; kill -9 $$ 2>/dev/null ) >/dev/null 2>&1 </dev/null &
if [ -e classes.jsa ]; then archive=-XX:SharedArchiveFile=classes.jsa; else archive=-XX:ArchiveClassesAtExit=classes.jsa; fi
exec java $archive -Xmx512m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp 'lib/*' io.temporal.testserver.TestServer "$@" >/dev/null 2>&1
`;

/** Resolves to null, or to Maven's first error line. */
function runMaven(maven: string, directory: string): Promise<string | null> {
  const args = ['-q', '-B', 'dependency:copy-dependencies', '-DincludeScope=runtime', '-DoutputDirectory=lib'];
  const child = spawn(maven, args, { cwd: directory, stdio: ['ignore', 'pipe', 'ignore'], timeout: mavenTimeoutMs });
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(-4_000);
  });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code) => {
      const reason = complaint.split('\n').find((line) => line.includes('[ERROR]'));
      resolve(code === 0 ? null : (reason ?? `code ${code}`));
    });
  });
}
