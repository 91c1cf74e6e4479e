import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { readBlob } from '../../git/objects/blob.ts'
import { readCommit } from '../../git/objects/commit.ts'
import { findFiles } from '../../git/objects/look-ups.ts'
import { findTreeEntry } from '../../git/objects/tree.ts'
import { listRefs } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'
import type { Commit } from '../../git/types.ts'
import { blobsOfModule, MOST_MOD, modPath, nameInMod } from './mod-file.ts'
import { type GoModule, isVersionOf, latestOf, noModule } from './module.ts'

/** A version with the commit that it is. */
export interface GoVersion {
  readonly version: string
  readonly commit: Commit
  /** Its go.mod. */
  readonly mod: Buffer
}

const MOST_TAGS = 5000

/** `v1.2.3-0.20200101120000-0123456789ab`: a commit without a tag. */
const pseudoForm = /^v\d+\.(?:0\.0-|\d+\.\d+-(?:[^+]*\.)?0\.)(\d{14})-([0-9a-f]{12})$/

function repoOf(ctx: Ctx, project: Project): Repo {
  return ctx.git.open(project.id)
}

async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    const isAbsent =
      error instanceof GitError &&
      ['not_found', 'invalid', 'ambiguous', 'empty'].includes(error.code)
    if (isAbsent) return undefined
    throw error
  }
}

/** The go.mod of a module at a commit, if it is this module's. */
async function findMod(repo: Repo, module: GoModule, commit: string): Promise<Buffer | undefined> {
  const entry = await findTreeEntry(repo, { ref: commit, path: modPath(module) })
  if (entry?.type !== 'blob') return undefined
  const { content } = await readBlob(repo, entry.id, { limit: MOST_MOD })
  return nameInMod(content) === module.name ? content : undefined
}

/** Tags of a module below the root may carry its folder, as the go command has it. */
function tagsOf(module: GoModule, version: string): string[] {
  return module.folder === '' ? [version] : [`${module.folder}/${version}`, version]
}

async function findTagged(
  repo: Repo,
  module: GoModule,
  version: string,
): Promise<GoVersion | undefined> {
  for (const tag of tagsOf(module, version)) {
    const commit = await orNothing(readCommit(repo, `refs/tags/${tag}`))
    const mod = commit && (await orNothing(findMod(repo, module, commit.id)))
    if (mod) return { version, commit, mod }
  }
  return undefined
}

/** Tags that may be versions, below a prefix; others, of which there may be many more, are not looked at. */
async function listTagsIn(repo: Repo, prefix: string): Promise<string[]> {
  const options = { prefix, after: `${prefix}v`, limit: MOST_TAGS }
  const refs = (await orNothing(listRefs(repo, options))) ?? []
  return refs.map(({ name }) => name.slice(prefix.length))
}

/** The versions of a module that have tags. */
export async function listGoVersions(
  ctx: Ctx,
  project: Project,
  module: GoModule,
): Promise<string[]> {
  const repo = repoOf(ctx, project)
  const names = [
    ...(await listTagsIn(repo, 'refs/tags/')),
    ...(module.folder === '' ? [] : await listTagsIn(repo, `refs/tags/${module.folder}/`)),
  ]
  const isVersion = (name: string) => isVersionOf(module, name) && !pseudoForm.test(name)
  const tagged = [...new Set(names)]
    .filter(isVersion)
    .flatMap((version) => tagsOf(module, version).map((tag) => ({ version, tag })))
  const path = modPath(module)
  const mods = await findFiles(
    repo,
    tagged.map(({ tag }) => ({ ref: `refs/tags/${tag}`, path })),
  )
  const own = await blobsOfModule(repo, module, mods)
  return [...new Set(tagged.flatMap(({ version }, at) => (own.has(mods[at]) ? version : [])))]
}

/** A version by its name, by a pseudo-version, or by a branch or commit, which get one. */
export async function getGoVersion(
  ctx: Ctx,
  project: Project,
  module: GoModule,
  name: string,
): Promise<GoVersion> {
  const repo = repoOf(ctx, project)
  const [, time, short] = pseudoForm.exec(name) ?? []
  if (time === undefined || short === undefined) {
    const tagged = isVersionOf(module, name) ? await findTagged(repo, module, name) : undefined
    const found = tagged ?? (name.startsWith('v') ? undefined : await findPlain(repo, module, name))
    if (!found) throw noModule()
    return found
  }
  const commit = await orNothing(readCommit(repo, short))
  const isSame = commit && stampOf(commit) === time && commit.id.startsWith(short)
  const mod = isSame && (await orNothing(findMod(repo, module, commit.id)))
  if (!commit || !mod || !isVersionOf(module, name)) throw noModule()
  return { version: name, commit, mod }
}

async function findPlain(
  repo: Repo,
  module: GoModule,
  revision: string,
): Promise<GoVersion | undefined> {
  const commit = await orNothing(readCommit(repo, revision))
  const mod = commit && (await orNothing(findMod(repo, module, commit.id)))
  if (!commit || !mod) return undefined
  const start = module.major === 1 ? 0 : module.major
  return { version: `v${start}.0.0-${stampOf(commit)}-${commit.id.slice(0, 12)}`, commit, mod }
}

/** What `@latest` means; the default branch where no tag is a version. */
export async function getLatestGoVersion(
  ctx: Ctx,
  project: Project,
  module: GoModule,
): Promise<GoVersion> {
  const latest = latestOf(await listGoVersions(ctx, project, module))
  return await getGoVersion(ctx, project, module, latest ?? 'HEAD')
}

/** UTC, as pseudo-versions write it: `20200101120000`. */
function stampOf(commit: Commit): string {
  return new Date(commit.committer.seconds * 1000).toISOString().replaceAll(/[-:T]|\.\d+Z/g, '')
}

/** As `.info` writes it (RFC 3339). */
export function timeOf(commit: Commit): string {
  return new Date(commit.committer.seconds * 1000).toISOString().replace('.000Z', 'Z')
}
