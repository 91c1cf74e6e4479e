import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newFolder } from './database.ts'
import { gitTestEnvironment } from './git.ts'
import { runProgramBeside } from './run-program.ts'
import type { Caller, World } from './world.ts'

/** How a git program ended. */
export interface ClientRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the git program as a client of a server that may live in this very process. */
export async function runGitClient(
  folder: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<ClientRun> {
  const { status, stdout, stderr } = await runProgramBeside({
    program: 'git',
    args,
    cwd: folder,
    env: { ...gitTestEnvironment, GIT_TERMINAL_PROMPT: '0', ...env },
  })
  return { code: status ?? -1, stdout: stdout.toString(), stderr: stderr.toString() }
}

/** As `runGitClient`, for what must go well: throws with what git said. */
export async function gitClient(
  folder: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const run = await runGitClient(folder, args, env)
  if (run.code !== 0) throw new Error(`git ${args.join(' ')}: ${run.stderr}`)
  return run.stdout.trim()
}

export interface TestProject {
  readonly id: number
  /** `ana/demo`. */
  readonly path: string
  /** The folder of the repository on the server. */
  readonly repository: string
  /** The address with the caller's token in it. */
  url(caller?: Caller): string
}

export interface ProjectOptions {
  readonly visibility?: 'private' | 'internal' | 'public'
  readonly archived?: boolean
  readonly defaultBranch?: string
  /** Repository to begin with, a folder. */
  readonly from?: string
}

/** A project of its owner with an empty repository, or with a copy of another. */
export async function makeProject(
  world: World,
  owner: Caller,
  name: string,
  options: ProjectOptions = {},
): Promise<TestProject> {
  const { db, git } = world.ctx
  const now = world.ctx.now()
  const defaultBranch = options.defaultBranch ?? 'main'
  const namespace = await db
    .selectFrom('namespaces')
    .select('id')
    .where('owner_id', '=', owner.id)
    .executeTakeFirstOrThrow()
  const path = `${owner.username}/${name}`
  const { id } = await db
    .insertInto('projects')
    .values({
      namespace_id: namespace.id,
      name,
      path: name,
      full_path: path,
      visibility: options.visibility ?? 'private',
      archived: options.archived ?? false,
      default_branch: defaultBranch,
      creator_id: owner.id,
      empty_repo: options.from === undefined,
      last_activity_at: now,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const repo = await git.init(id, { defaultBranch })
  if (options.from !== undefined) {
    await gitClient(repo.path, ['fetch', '-q', options.from, '+refs/*:refs/*'])
  }
  return {
    id,
    path,
    repository: repo.path,
    url: (caller) => {
      const address = new URL(`${world.url}/${path}.git`)
      if (caller?.token) {
        address.username = caller.username
        address.password = caller.token
      }
      return address.href
    },
  }
}

/** Makes a user a member of a project. */
export async function addMember(
  world: World,
  project: TestProject,
  user: Caller,
  accessLevel: number,
): Promise<void> {
  await world.ctx.db
    .insertInto('members')
    .values({
      source_type: 'project',
      source_id: project.id,
      user_id: user.id,
      access_level: accessLevel,
      created_at: world.ctx.now(),
      updated_at: world.ctx.now(),
    })
    .execute()
}

/** Folders for clones that go when the test file ends. */
export interface ClientFolders {
  /** A new empty folder. */
  folder(): Promise<string>
  /** A new repository with one commit on `main`. */
  repository(): Promise<string>
  clear(): Promise<void>
}

export function openClientFolders(): ClientFolders {
  const root = newFolder()
  const folder = () => mkdtemp(join(root, 'client-'))
  return {
    folder,
    async repository() {
      const made = await folder()
      await gitClient(made, ['init', '-q', '-b', 'main', '.'])
      await commitFile(made, 'README.md', '# Demo\n', 'Begin')
      return made
    },
    clear: () => rm(root, { recursive: true, force: true }),
  }
}

/** Writes a file and commits it; gives the commit's id. */
export async function commitFile(
  folder: string,
  path: string,
  content: string,
  message: string,
): Promise<string> {
  await writeFile(join(folder, path), content)
  await gitClient(folder, ['add', '-A'])
  await gitClient(folder, ['commit', '-q', '-m', message])
  return await gitClient(folder, ['rev-parse', 'HEAD'])
}
