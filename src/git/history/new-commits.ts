import { gitLines, runGit } from '../command.ts'
import { assertObjectId } from '../names.ts'
import { parseCommit } from '../objects/parse-object.ts'
import { quarantineEnvironment } from '../objects/quarantine.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'

/** A commit that no ref has yet, as far as rules on pushes ask. */
export interface NewCommit {
  readonly id: ObjectId
  readonly authorEmail: string
  readonly committerName: string
  readonly committerEmail: string
  readonly message: string
  readonly signed: boolean
  readonly merge: boolean
}

/** A file that such commits add or change. */
export interface NewFile {
  readonly path: string
  readonly added: boolean
  readonly id: ObjectId
  /** Bytes. */
  readonly size: number
}

const outputLimit = 256 * 1024 * 1024

/** What git says about the commits that a ref would bring, while no ref has them: fields that end with a NUL each. */
async function askAboutNew(
  repo: Repo,
  args: readonly string[],
  tip: ObjectId,
  quarantine: string | undefined,
): Promise<string[]> {
  const { stdout } = await runGit({
    repo: repo.path,
    args: [...args, assertObjectId(tip), '--not', '--all'],
    env: quarantineEnvironment(repo, quarantine),
    limit: outputLimit,
  })
  return stdout.toString('utf8').split('\0')
}

/** The commits that a ref would bring, while no ref has them: also out of the quarantine of a push. */
export async function readNewCommits(
  repo: Repo,
  tip: ObjectId,
  quarantine?: string,
): Promise<NewCommit[]> {
  const texts = await askAboutNew(repo, ['rev-list', '--header'], tip, quarantine)
  return texts.filter((text) => text.trim() !== '').map(readCommit)
}

/** `<id>\n<headers>\n\n<message, each line behind four spaces>`. */
function readCommit(text: string): NewCommit {
  const idEnd = text.indexOf('\n')
  const headEnd = text.indexOf('\n\n')
  const head = text.slice(idEnd + 1, headEnd < 0 ? undefined : headEnd)
  const message = headEnd < 0 ? '' : text.slice(headEnd + 2).replaceAll(/^ {4}/gm, '')
  const raw = Buffer.from(`${head}\n\n${message}`)
  const { id, author, committer, signature, parentIds } = parseCommit(text.slice(0, idEnd), raw)
  return {
    id,
    authorEmail: author.email,
    committerName: committer.name,
    committerEmail: committer.email,
    message,
    signed: signature !== undefined,
    merge: parentIds.length > 1,
  }
}

/** The files that the commits of a ref add or change, while no ref has them; sizes only where asked for. */
export async function readNewFiles(
  repo: Repo,
  tip: ObjectId,
  options: { readonly sizes: boolean },
  quarantine?: string,
): Promise<NewFile[]> {
  const args = [
    ...['log', '--raw', '-z', '-r', '--root', '--no-abbrev', '--no-renames', '--format='],
    '--diff-filter=AMT',
  ]
  const fields = await askAboutNew(repo, args, tip, quarantine)
  const found: Omit<NewFile, 'size'>[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    // `:100644 100644 <old> <new> M`, then the path.
    const [, mode, , id, status] = (fields[at] ?? '').trim().split(' ')
    if (id === undefined || status === undefined || mode === '160000') continue
    found.push({ path: fields[at + 1] ?? '', added: status === 'A', id })
  }
  const ids = options.sizes ? found.map((file) => file.id) : []
  const sizes = await sizesOf(repo, ids, quarantine)
  return found.map((file) => ({ ...file, size: sizes.get(file.id) ?? 0 }))
}

/** The paths that the commits of a ref add, change or delete, while no ref has them. */
export async function readChangedPaths(
  repo: Repo,
  tip: ObjectId,
  quarantine?: string,
): Promise<string[]> {
  const args = ['log', '--name-only', '-z', '-r', '--root', '-m', '--no-renames', '--format=']
  const paths = await askAboutNew(repo, args, tip, quarantine)
  return [...new Set(paths.map((path) => path.replace(/^\n/, '')).filter(Boolean))]
}

async function sizesOf(
  repo: Repo,
  ids: readonly ObjectId[],
  quarantine: string | undefined,
): Promise<Map<ObjectId, number>> {
  if (ids.length === 0) return new Map()
  const lines = await gitLines({
    repo: repo.path,
    args: ['cat-file', '--batch-check=%(objectname) %(objectsize)'],
    stdin: `${[...new Set(ids)].join('\n')}\n`,
    env: quarantineEnvironment(repo, quarantine),
    limit: outputLimit,
  })
  return new Map(
    lines.map((line) => {
      const [id = '', size] = line.split(' ')
      return [id, Number(size)]
    }),
  )
}
