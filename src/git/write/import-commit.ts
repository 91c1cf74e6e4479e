import { createReadStream } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { runGit } from '../command.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import { assertObjectId } from '../names.ts'
import { syncFolder } from '../repo-layout.ts'
import { emptyTrees, type ObjectId } from '../types.ts'
import type { NewCommit } from './commit-object.ts'
import { type DraftFolder, withDraftFolder } from './draft-folder.ts'
import type { Entry } from './folder.ts'
import { signatureLine } from './signer.ts'

export interface ImportInput {
  /** The tree that is changed. */
  readonly before: ObjectId
  /** What is put in its place, by path; undefined for what is gone. */
  readonly changes: ReadonlyMap<string, Entry | undefined>
  readonly commit: Omit<NewCommit, 'treeId'>
}

/** The branch that the import works on; it is never there. */
const branch = 'refs/gitstead/import'

/**
 * Writes a commit by `git fast-import`: its tree is the one before with these changes. All objects go into one pack, which is
 * on the disk with its name when this returns. For many changes, and for repositories with SHA-256.
 */
export async function importCommit(
  { path }: OpenRepository,
  input: ImportInput,
): Promise<ObjectId> {
  const id = await runImport(path, input)
  await syncFolder(join(path, 'objects', 'pack'))
  return id
}

/** As `importCommit`, but nothing is there before git has looked at the new objects as at those of a push. */
export function importChecked({ path }: OpenRepository, input: ImportInput): Promise<ObjectId> {
  const unpack = async (packs: DraftFolder, objects: DraftFolder) => {
    const id = await runImport(path, input, packs.env)
    for (const name of await readdir(join(packs.path, 'pack'))) {
      if (name.endsWith('.pack')) await unpackStrictly(join(packs.path, 'pack', name), objects)
    }
    await objects.accept()
    return id
  }
  return withDraftFolder(path, (packs) =>
    withDraftFolder(path, (objects) => unpack(packs, objects)),
  )
}

async function unpackStrictly(pack: string, { repository, env }: DraftFolder): Promise<void> {
  try {
    await runGit({
      repo: repository,
      args: ['unpack-objects', '-q', '--strict'],
      config: { 'core.fsync': 'none' },
      env,
      stdin: createReadStream(pack),
    })
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 'failed') throw error
    const said = String(error.detail.stderr ?? '')
    const reason = /error: object [0-9a-f]+: (\S+):/.exec(said)?.[1] ?? said.trim()
    throw new GitError('invalid', `git refuses the content: ${reason}`, { reason: 'fsck' })
  }
}

async function runImport(
  path: string,
  input: ImportInput,
  env: Readonly<Record<string, string>> = {},
): Promise<ObjectId> {
  try {
    const { stdout } = await runGit({
      repo: path,
      args: ['fast-import', '--quiet', '--date-format=raw-permissive'],
      config: { 'fastimport.unpackLimit': '0' },
      env,
      stdin: Readable.from(commands(input), { objectMode: false }),
    })
    return assertObjectId(stdout.toString('latin1').trim())
  } catch (error) {
    await removeReports(path)
    throw error
  }
}

function* commands({ before, changes, commit }: ImportInput): Generator<Buffer> {
  const { author, committer, message, parentIds } = commit
  const text = (lines: readonly string[]) => Buffer.from(`${lines.join('\n')}\n`)
  yield text([
    ...[`commit ${branch}`, 'mark :1'],
    ...[`author ${signatureLine(author)}`, `committer ${signatureLine(committer)}`],
    `data ${Buffer.byteLength(message)}`,
    message,
    ...parentIds.map((id, i) => `${i === 0 ? 'from' : 'merge'} ${assertObjectId(id)}`),
    'deleteall',
    ...(emptyTrees.has(before) ? [] : [`M 040000 ${assertObjectId(before)} ""`]),
  ])
  // What is gone makes room for what comes in its place.
  for (const [path, entry] of changes) if (!entry) yield text([`D ${quoted(path)}`])
  for (const [path, entry] of changes) {
    if (!entry) continue
    const mode = entry.mode.toString(8)
    if ('id' in entry) yield text([`M ${mode} ${entry.id} ${quoted(path)}`])
    else {
      yield text([`M ${mode} inline ${quoted(path)}`, `data ${entry.content.length}`])
      yield entry.content
      yield text([''])
    }
  }
  // The branch is given up before it is made.
  yield text(['', 'get-mark :1', `reset ${branch}`, `from ${'0'.repeat(before.length)}`, ''])
}

function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
}

/** What git writes about an import that failed, into the repository. */
async function removeReports(path: string): Promise<void> {
  const names = await readdir(path).catch(() => [])
  const reports = names.filter((name) => name.startsWith('fast_import_crash_'))
  await Promise.all(reports.map((name) => rm(join(path, name), { force: true })))
}
