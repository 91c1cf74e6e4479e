import { copyFile, link, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError } from '../error.ts'
import { formatIn } from '../objects/packs/object-format.ts'
import { RefTable } from '../ref-files/ref-table.ts'
import { layOut, syncFolder, writeFileSynced } from '../repo-layout.ts'
import { branchesAndTags, listPackFiles } from './fetch-whole.ts'

/**
 * Makes a repository with the branches, tags and objects of another. Object files are hard links:
 * they never change, cost no space, and what one side prunes stays with the other. With `branch` it has that one alone.
 */
export async function linkObjects(
  from: string,
  to: string,
  options: { readonly branch?: string | undefined; readonly maxPushBytes: number },
): Promise<void> {
  const { branch, maxPushBytes } = options
  const head = await readHead(from)
  await layOut(to, { defaultBranch: 'main', objectFormat: formatIn(from) }, maxPushBytes)
  const ownHead = branch === undefined ? head : `ref: refs/heads/${branch}\n`
  await writeFileSynced(join(to, 'HEAD'), ownHead)
  // Refs first: what they reach is then somewhere among the objects, loose before packed, because
  // maintenance moves objects only in that direction.
  // git leaves out what is broken, and the fork would lack it without a word.
  new RefTable(from).assertWhole('refs/')
  const all = await branchesAndTags(from)
  const refs =
    branch === undefined ? all : all.filter(({ name }) => name === `refs/heads/${branch}`)
  if (branch !== undefined && refs.length === 0) {
    throw new GitError('not_found', 'there is no such branch to fork')
  }
  await linkLoose(join(from, 'objects'), join(to, 'objects'))
  await linkPacks(join(from, 'objects/pack'), join(to, 'objects/pack'))
  for (const folder of ['objects/pack', 'objects']) await syncFolder(join(to, folder))
  await writeFileSynced(
    join(to, 'packed-refs'),
    `# pack-refs with: sorted \n${refs.map(({ id, name }) => `${id} ${name}\n`).join('')}`,
  )
}

async function readHead(path: string): Promise<string> {
  try {
    return await readFile(join(path, 'HEAD'), 'utf8')
  } catch {
    throw new GitError('not_found', 'there is no repository to fork')
  }
}

async function linkLoose(from: string, to: string): Promise<void> {
  for (const shard of await readdir(from)) {
    if (!/^[0-9a-f]{2}$/.test(shard)) continue
    await mkdir(join(to, shard), { recursive: true })
    for (const name of await readdir(join(from, shard)).catch(() => [])) {
      // A name with letters beyond hex is an object being written, not yet one.
      if (/^[0-9a-f]+$/.test(name)) await linkFile(join(from, shard, name), join(to, shard, name))
    }
    await syncFolder(join(to, shard))
  }
}

/** Links every whole pack; starts over when a repack replaces them meanwhile. */
async function linkPacks(from: string, to: string): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const names = await listPackFiles(from)
    const done = await Promise.all(names.map((name) => linkFile(join(from, name), join(to, name))))
    if (done.every(Boolean)) return
  }
  throw new GitError('failed', 'the repository kept changing while it was forked')
}

/** Links one file, or copies it where links are not possible; false when it is gone. */
async function linkFile(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'EEXIST') return true
    if (code === 'ENOENT') return false
  }
  await copyFile(from, to)
  // Syncs a file as it does a folder.
  await syncFolder(to)
  return true
}
