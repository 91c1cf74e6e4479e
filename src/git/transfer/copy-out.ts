import { type BigIntStats, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { runGit } from '../command.ts'
import { GitError } from '../error.ts'
import { RefTable } from '../ref-files/ref-table.ts'

/*
 * Repositories as a backup sees them: what it copies, and how it looks whether that is whole. Nothing here writes.
 */

/** A file with objects. */
export interface ObjectFile {
  /** Below the folder of the repository. */
  readonly name: string
  readonly source: string
  readonly stats: BigIntStats
}

/** All refs of a repository at one moment. */
export interface RefsCopy {
  readonly head: string
  /** As a file `packed-refs`. */
  readonly packed: string
  readonly count: number
}

const repositoryName = /^\d+(?:\.wiki|\.group-wiki|\.snippet)?\.git$/
/** What of a pack lasts; other files about it are made again by maintenance. */
const packName = /^pack-[0-9a-f]+\.(?:pack|idx|rev)$/

/** The folders of all repositories below the one that holds them, such as `2a/42.git`. */
export async function listRepositoryFolders(root: string): Promise<string[]> {
  const found: string[] = []
  for (const shard of (await readdir(root).catch(() => [])).sort()) {
    const names = await readdir(join(root, shard)).catch(() => [])
    found.push(
      ...names.filter((name) => repositoryName.test(name)).map((name) => `${shard}/${name}`),
    )
  }
  return found
}

/** The refs of a repository; undefined when it is gone. */
export function readRefsCopy(path: string): RefsCopy | undefined {
  try {
    const head = readFileSync(join(path, 'HEAD'), 'utf8')
    const refs = new RefTable(path).list()
    const lines = refs.map(({ id, name }) => `${id} ${name}\n`).join('')
    return { head, packed: `# pack-refs with: sorted \n${lines}`, count: refs.length }
  } catch (error) {
    if (existsSync(join(path, 'HEAD'))) throw error
    return undefined
  }
}

/**
 * Every file with objects of a repository, and of those from which it borrows. One that is being deleted has its files
 * beside it until deletions are allowed again. Loose before packed: maintenance moves objects only in that direction.
 */
export function listObjectFiles(path: string): ObjectFile[] {
  const found = new Map<string, ObjectFile>()
  const folders = copiesOf(path).flatMap((copy) => objectFolders(join(copy, 'objects')))
  const add = (folder: string, name: string) => {
    const source = join(folder, name)
    const stats = statSync(source, { bigint: true, throwIfNoEntry: false })
    if (stats && !found.has(name)) found.set(name, { name: `objects/${name}`, source, stats })
  }
  for (const folder of folders) {
    for (const shard of namesIn(folder).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
      for (const name of namesIn(join(folder, shard))) {
        if (/^[0-9a-f]{38,62}$/.test(name)) add(folder, `${shard}/${name}`)
      }
    }
    const packs = namesIn(join(folder, 'pack')).filter((name) => packName.test(name))
    for (const name of packs) add(folder, `pack/${name}`)
  }
  return [...found.values()]
}

function copiesOf(path: string): string[] {
  const start = `${basename(path)}.`
  const gone = namesIn(dirname(path)).filter(
    (name) => name.startsWith(start) && name.endsWith('.gone'),
  )
  return [path, ...gone.map((name) => join(dirname(path), name))]
}

function objectFolders(folder: string, depth = 0): string[] {
  const list = join(folder, 'info/alternates')
  const text = depth < 5 && existsSync(list) ? readFileSync(list, 'utf8') : ''
  const borrowed = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return [folder, ...borrowed.flatMap((path) => objectFolders(resolve(folder, path), depth + 1))]
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** What `git fsck` says by its exit code, which is a sum; beyond them it has failed itself. */
const verdicts = Array.from({ length: 64 }, (_, code) => code)
const mostFaults = 5

/** What `git fsck` finds wrong with a repository, one sentence each. */
export async function checkCopiedObjects(path: string, signal?: AbortSignal): Promise<string[]> {
  const args = ['fsck', '--full', '--no-dangling', '--no-progress']
  try {
    const options = { repo: path, args, timeout: 0, signal, accept: verdicts }
    const { code, stdout, stderr } = await runGit(options)
    if (code === 0) return []
    const lines = `${stdout.toString('utf8')}${stderr}`.split('\n').filter((line) => line !== '')
    return lines.slice(0, mostFaults)
  } catch (error) {
    if (!(error instanceof GitError) || signal?.aborted) throw error
    return [error.message]
  }
}
