import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

// Talks over two pipes that git hands on: where the new objects are goes out on 3, the verdict comes
// in on 4. Text before the verdict is for the user. No answer, because the server is gone, is a no.
// What git writes to it, the server has read from the client before.
const preReceive = `#!/bin/sh
printf '%s\\n' "$GIT_QUARANTINE_PATH" >&3 || exit 1
while IFS= read -r line <&4; do
  case $line in
    allow) exit 0 ;;
    deny) exit 1 ;;
    *) printf '%s\\n' "\${line#>}" >&2 ;;
  esac
done
exit 1
`

/** Writes the hooks that our git processes run and gives their folder. */
export async function writeHooks(dataDir: string): Promise<string> {
  const folder = join(dataDir, 'hooks')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (await isThere(join(folder, 'pre-receive'))) return folder
  const draft = join(folder, 'pre-receive.new')
  await writeFile(draft, preReceive)
  await chmod(draft, 0o700)
  await rename(draft, join(folder, 'pre-receive'))
  return folder
}

/** A full disk must not keep the server from starting. */
async function isThere(path: string): Promise<boolean> {
  const known = await readFile(path, 'utf8').catch(() => '')
  return known === preReceive
}

/** What git's pre-receive hook asks. */
export interface HookQuestion {
  /** Where the new objects are until they are accepted; undefined when the push brings none. */
  readonly quarantine: string | undefined
}

// The longest path that the system allows.
const maxQuestion = 4096

/** Reads what the hook says; undefined when git ends without asking. */
export async function readHookQuestion(fromHook: Readable): Promise<HookQuestion | undefined> {
  let said = ''
  for await (const chunk of fromHook as AsyncIterable<Buffer>) {
    said += chunk.toString('utf8')
    if (said.endsWith('\n')) return { quarantine: said.trimEnd() || undefined }
    if (said.length > maxQuestion) break
  }
  return undefined
}

/** Lets git go on. */
export function allow(toHook: Writable): void {
  toHook.end('allow\n')
}

/** Makes git refuse the whole push, with lines for its user. */
export function deny(toHook: Writable, lines: readonly string[]): void {
  const shown = lines.flatMap((line) => line.split(/\r?\n|\r/)).map((line) => `>${line}\n`)
  toHook.end(`${shown.join('')}deny\n`)
}
