import type { Repo } from '../../src/git/repo.ts'
import { git, gitBytes } from './git.ts'

/** A file of a commit: its content, or what else it is. */
export type TestFile =
  | string
  | Uint8Array
  | null
  | { readonly mode: '100644' | '100755' | '120000'; readonly data: string | Uint8Array }
  | { readonly submodule: string }

export interface TestCommit {
  /** Paths to put, or with `null` to delete. */
  readonly files: Readonly<Record<string, TestFile>>
  readonly parents?: readonly string[] | undefined
  readonly message?: string | undefined
  readonly author?: string | undefined
  readonly seconds?: number | undefined
  /** Full name of the ref to move; `refs/heads/main` by default. */
  readonly ref?: string | undefined
}

/** A path in the quotes of fast-import; after `raw:` each character stands for one byte. */
function quoted(path: string): string {
  const bytes = path.startsWith('raw:') ? Buffer.from(path.slice(4), 'latin1') : Buffer.from(path)
  const escaped = [...bytes].map((byte) => {
    const plain = byte > 0x1f && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
    return plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
  })
  return `"${escaped.join('')}"`
}

function fileLines(path: string, file: TestFile): (string | Uint8Array)[] {
  if (file === null) return [`D ${quoted(path)}\n`]
  if (typeof file === 'object' && 'submodule' in file) {
    return [`M 160000 ${file.submodule} ${quoted(path)}\n`]
  }
  const plain = typeof file === 'string' || file instanceof Uint8Array
  const data = Buffer.from(plain ? file : file.data)
  const mode = plain ? '100644' : file.mode
  return [`M ${mode} inline ${quoted(path)}\ndata ${data.length}\n`, data, '\n']
}

let clock = 1_632_121_572

/** Writes a commit with git itself and moves a ref to it; gives its id. */
export function commitFiles(repo: Pick<Repo, 'path'>, commit: TestCommit): string {
  const ref = commit.ref ?? 'refs/heads/main'
  clock += 60
  const seconds = commit.seconds ?? clock
  const message = Buffer.from(commit.message ?? 'Change\n')
  const parents = commit.parents ?? tipOf(repo, ref)
  const [first, ...others] = parents
  const head = [
    `commit ${ref}\nmark :1\n`,
    `author ${commit.author ?? 'Ana Author <ana@example.com>'} ${seconds} +0200\n`,
    `committer Carl Committer <carl@example.com> ${seconds} +0200\n`,
    `data ${message.length}\n`,
    message,
    '\n',
    first === undefined ? '' : `from ${first}\n`,
    ...others.map((id) => `merge ${id}\n`),
  ]
  const files = Object.entries(commit.files).flatMap(([path, file]) => fileLines(path, file))
  const reset = first === undefined ? `reset ${ref}\n` : ''
  const stream = Buffer.concat(
    [reset, ...head, ...files, '\nget-mark :1\ndone\n'].map((piece) => Buffer.from(piece)),
  )
  return git(repo.path, ['fast-import', '--quiet', '--force', '--done'], { input: stream })
}

function tipOf(repo: Pick<Repo, 'path'>, ref: string): string[] {
  const found = git(repo.path, ['for-each-ref', '--format=%(objectname)', ref])
  return found === '' ? [] : [found]
}

/** Every file of a commit with its mode and id, as `git ls-tree -r` lists them. */
export function listing(repo: Pick<Repo, 'path'>, revision: string): string[] {
  return gitBytes(repo.path, ['ls-tree', '-r', '-z', revision])
    .toString('latin1')
    .split('\0')
    .filter(Boolean)
}

/** What `git fsck --strict` has to say: nothing, when all is well. */
export function fsck(repo: Pick<Repo, 'path'>): string {
  return git(repo.path, ['fsck', '--strict', '--full', '--no-dangling'])
}
