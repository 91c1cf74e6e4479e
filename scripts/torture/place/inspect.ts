import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import Database from 'better-sqlite3'
import { runGit } from './git.ts'

/** Tasks that have failed for good: name and error. */
export function listDeadTasks(data: string): string[] {
  const database = new Database(join(data, 'gitstead.db'), { readonly: true })
  try {
    const rows = database
      .prepare<[], { name: string; last_error: string }>(
        "SELECT name, last_error FROM tasks WHERE state = 'dead'",
      )
      .all()
    return rows.map(({ name, last_error }) => `${name} (${last_error})`)
  } finally {
    database.close()
  }
}

/** What `git fsck` says against each repository of a data folder. */
export async function checkRepositories(data: string): Promise<string[]> {
  const root = join(data, 'repositories')
  const entries = await readdir(root, { recursive: true })
  const faults: string[] = []
  for (const name of entries.filter((entry) => entry.endsWith('.git'))) {
    const path = join(root, name)
    const args = ['fsck', '--full', '--no-dangling', '--no-progress']
    const run = await runGit(path, ['-c', 'safe.directory=*', ...args])
    if (!run.ok) faults.push(`${relative(data, path)}: ${run.stderr.slice(0, 300)}`)
  }
  return faults
}
