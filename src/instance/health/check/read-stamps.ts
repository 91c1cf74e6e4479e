import { readFileSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ownedName } from '../../../base/process-mark.ts'

/**
 * Which stored files have been read and found to be what their names say, with what they looked like then: in a file of
 * the data folder, without which all are read again.
 */
export class ReadStamps {
  readonly #data: string
  readonly #known: Map<string, string>

  constructor(data: string) {
    this.#data = data
    this.#known = new Map(linesOf(fileOf(data)).flatMap(pairOf))
  }

  has(sha256: string, stamp: string): boolean {
    return this.#known.get(sha256) === stamp
  }

  add(sha256: string, stamp: string): void {
    this.#known.set(sha256, stamp)
  }

  /** Forgets those that are not among these, and writes the rest down. */
  async keep(names: ReadonlySet<string>): Promise<void> {
    const kept = [...this.#known].filter(([sha256]) => names.has(sha256))
    const folder = join(this.#data, 'tmp')
    const draft = join(folder, ownedName('read-files-'))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(draft, kept.map(([sha256, stamp]) => `${sha256} ${stamp}\n`).join(''), {
      mode: 0o600,
    })
    await rename(draft, fileOf(this.#data))
  }
}

function fileOf(data: string): string {
  return join(data, 'read-files.txt')
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}

function pairOf(line: string): [string, string][] {
  const [, sha256, stamp] = /^([0-9a-f]{64}) (.+)$/.exec(line) ?? []
  return sha256 === undefined || stamp === undefined ? [] : [[sha256, stamp]]
}
