import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Job } from '../job.ts'
import type { Variables } from '../variables.ts'

/** The folders of one job: where its project is checked out, and what goes with the job. */
export interface Workspace {
  /** All checkouts of this place for a job. */
  readonly builds: string
  /** The checkout; it stays for the next job of the project. */
  readonly project: string
  /** Scripts, archives and the log; gone after the job. */
  readonly temporary: string
  /** The variables that are files, in a folder of that one. */
  readonly variables: string
  readonly caches: string
}

/** Makes the folders of a job; `slot` keeps jobs apart that run at the same time. */
export async function openWorkspace(root: string, slot: number, job: Job): Promise<Workspace> {
  const { project_id: id, project_full_path: path, project_name: name } = job.job_info
  const clean = (path ?? name).replaceAll(/[^\w./-]/g, '_').replaceAll('..', '_')
  const builds = join(root, 'builds', String(slot))
  const temporary = join(builds, `${job.id}.tmp`)
  const workspace = {
    builds,
    project: join(builds, String(id), clean),
    temporary,
    variables: join(temporary, 'variables'),
    caches: join(root, 'cache', String(id)),
  }
  await rm(workspace.temporary, { recursive: true, force: true })
  for (const folder of [workspace.project, workspace.variables, workspace.caches]) {
    await mkdir(folder, { recursive: true, mode: 0o700 })
  }
  return workspace
}

/** Writes the variables that jobs get as files. */
export async function writeFileVariables(
  workspace: Workspace,
  variables: Variables,
): Promise<void> {
  for (const [key, content] of variables.files()) {
    await writeFile(fileOfVariable(workspace, key), content, { mode: 0o600 })
  }
}

export function fileOfVariable(workspace: Workspace, key: string): string {
  return join(workspace.variables, key.replaceAll(/\W/g, '_'))
}

/** Where the cache of a key is, whatever the key holds. */
export function cacheFile(workspace: Workspace, key: string): string {
  return join(workspace.caches, `${createHash('sha256').update(key).digest('hex')}.zip`)
}

export async function closeWorkspace(workspace: Workspace): Promise<void> {
  await rm(workspace.temporary, { recursive: true, force: true })
}
