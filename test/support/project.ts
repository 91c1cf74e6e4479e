import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { type RepositoryName, templateOf } from '../../fixtures/repositories/build.ts'
import type { Visibility } from '../../src/access/roles.ts'
import { git } from './git.ts'
import type { Caller, World } from './world.ts'

/** A project made for a test, with its repository's folder for the git program. */
export interface TestProject {
  readonly id: number
  readonly fullPath: string
  /** `/projects/7/repository` */
  readonly api: string
  /** The bare repository on disk. */
  readonly path: string
  /** Runs git in it. */
  git(...args: readonly string[]): string
}

interface ProjectOptions {
  readonly path?: string
  readonly visibility?: Visibility
  readonly settings?: Readonly<Record<string, unknown>>
  readonly defaultBranch?: string
}

/** A project in somebody's own namespace that holds a fixture repository. */
export async function addProject(
  world: World,
  owner: Caller,
  fixture: RepositoryName,
  options: ProjectOptions = {},
): Promise<TestProject> {
  const { ctx } = world
  const path = options.path ?? fixture
  const fullPath = `${owner.username}/${path}`
  const namespace = await ctx.db
    .selectFrom('namespaces')
    .select('id')
    .where('full_path', '=', owner.username)
    .executeTakeFirstOrThrow()
  const now = ctx.now()
  const { id } = await ctx.db
    .insertInto('projects')
    .values({
      namespace_id: namespace.id,
      name: path,
      path,
      full_path: fullPath,
      visibility: options.visibility ?? 'private',
      default_branch: options.defaultBranch ?? 'main',
      creator_id: owner.id,
      empty_repo: fixture === 'empty',
      settings: JSON.stringify(options.settings ?? {}),
      last_activity_at: now,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const repo = await ctx.git.init(id, { defaultBranch: options.defaultBranch ?? 'main' })
  await fill(repo.path, fixture)
  return {
    id,
    fullPath,
    api: `/projects/${id}/repository`,
    path: repo.path,
    git: (...args) => git(repo.path, args),
  }
}

/** Puts the objects and refs of a fixture into a repository that the server made. */
async function fill(path: string, fixture: RepositoryName): Promise<void> {
  if (fixture === 'empty') return
  const source = await templateOf(fixture)
  for (const part of ['objects', 'refs', 'packed-refs']) {
    // Fixtures with loose refs only have no packed ones.
    if (part === 'packed-refs' && !existsSync(join(source, part))) continue
    cpSync(join(source, part), join(path, part), { recursive: true })
  }
}

/** Makes a user a member of a project. */
export async function addMember(
  world: World,
  project: Pick<TestProject, 'id'>,
  user: Caller,
  accessLevel: number,
): Promise<void> {
  const now = world.ctx.now()
  await world.ctx.db
    .insertInto('members')
    .values({
      source_type: 'project',
      source_id: project.id,
      user_id: user.id,
      access_level: accessLevel,
      created_at: now,
      updated_at: now,
    })
    .execute()
}
