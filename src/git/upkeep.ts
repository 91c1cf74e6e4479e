import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runGit } from './command.ts'
import type { Repo } from './repo.ts'

// Above these, reading slows down more than tidying costs.
const manyPacks = 12
const manyLooseObjects = 2000
const manyLooseRefs = 1000
const anHour = 3_600_000

/**
 * Brings a repository back into shape after pushes: adds new commits to the commit-graph (some 10 ms),
 * rolls small packs into larger ones with a bitmap, packs refs. Safe beside readers and pushes.
 */
export async function keepUp(repo: Repo, signal?: AbortSignal): Promise<void> {
  const git = (...args: string[]) => runGit({ repo: repo.path, args, signal, timeout: anHour })
  await git('commit-graph', 'write', '--reachable', '--split', '--changed-paths', '--no-progress')
  if (await isScattered(repo)) {
    const how = ['--geometric=2', '-d', '-l', '-q', '--write-midx', '--write-bitmap-index']
    await git('repack', ...how)
  }
  if ((await countFiles(join(repo.path, 'refs'))) > manyLooseRefs) await git('pack-refs', '--all')
}

async function isScattered(repo: Repo): Promise<boolean> {
  const objects = join(repo.path, 'objects')
  const packs = (await namesIn(join(objects, 'pack'))).filter((name) => name.endsWith('.pack'))
  if (packs.length > manyPacks) return true
  // Ids are spread evenly: one folder of 256 tells about all, as `git gc --auto` knows.
  const sample = await namesIn(join(objects, '17'))
  return sample.length * 256 > manyLooseObjects
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => [])
}

async function countFiles(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries.filter((entry) => entry.isFile()).length
}
