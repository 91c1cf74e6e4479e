import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { GitError } from '../git/error.ts'

// Talks over two pipes that git hands on: what the push wants goes out on 3, the verdict comes in
// on 4. Text before the verdict is for the user. No answer, because the server is gone, is a no.
const preReceive = `#!/bin/sh
{ printf '%s\\n' "$GIT_QUARANTINE_PATH"; cat; printf '\\n'; } >&3 || exit 1
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
  const draft = join(folder, 'pre-receive.new')
  await writeFile(draft, preReceive)
  await chmod(draft, 0o700)
  await rename(draft, join(folder, 'pre-receive'))
  return folder
}

/** What git is about to do, told by its pre-receive hook. */
export interface HookReport {
  /** Where the new objects are until they are accepted; undefined when the push brings none. */
  readonly quarantine: string | undefined
  /** The refs that git itself did not refuse. */
  readonly names: readonly string[]
}

// A push of 100,000 refs.
const maxReport = 64 * 1024 * 1024

/** Reads what the hook says; undefined when git ends without asking. */
export async function readHookReport(fromHook: Readable): Promise<HookReport | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of fromHook as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxReport) throw new GitError('too_large', 'too many ref updates in one push')
    if (!endsReport(chunk, chunks)) continue
    const [quarantine = '', ...lines] = Buffer.concat(chunks).toString('utf8').trimEnd().split('\n')
    const names = lines.map((line) => line.split(' ').slice(2).join(' '))
    return { quarantine: quarantine || undefined, names }
  }
  return undefined
}

function endsReport(last: Buffer, chunks: readonly Buffer[]): boolean {
  const tail = last.length > 1 ? last : Buffer.concat(chunks)
  return tail.length > 1 && tail.subarray(-2).toString('latin1') === '\n\n'
}

/** Lets git go on. */
export function allow(toHook: Writable): void {
  toHook.end('allow\n')
}

/** Makes git refuse the whole push, with lines for its user. */
export function deny(toHook: Writable, lines: readonly string[]): void {
  const shown = lines.map((line) => `>${line.replace(/[\r\n]+/g, ' ')}\n`)
  toHook.end(`${shown.join('')}deny\n`)
}
