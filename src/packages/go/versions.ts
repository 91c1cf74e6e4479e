import { inc, prerelease } from 'semver'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { listMergedAmong } from '../../git/history/contains.ts'
import { readBlob } from '../../git/objects/blob.ts'
import { readCommit } from '../../git/objects/commit.ts'
import { findCommits, findFiles } from '../../git/objects/look-ups.ts'
import { findTreeEntry } from '../../git/objects/tree.ts'
import { listRefs } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'
import type { Commit, ObjectId } from '../../git/types.ts'
import { blobsOfModule, MOST_MOD, modPath, nameInMod } from './mod-file.ts'
import { type GoModule, highestOf, isVersionOf, latestOf, noModule } from './module.ts'

/** A version with the commit that it is. */
export interface GoVersion {
  readonly version: string
  readonly commit: Commit
  /** Its go.mod. */
  readonly mod: Buffer
}

interface Tagged {
  readonly version: string
  readonly tag: string
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
  const tagged = await listTagged(repoOf(ctx, project), module)
  return [...new Set(tagged.map(({ version }) => version))]
}

/** The tags that are versions of a module. */
async function listTagged(repo: Repo, module: GoModule): Promise<Tagged[]> {
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
  return tagged.filter((_one, at) => own.has(mods[at]))
}

/** The versions of a module that a commit has in its history, and those that it is itself. */
async function listVersionsIn(repo: Repo, module: GoModule, commit: Commit) {
  const tagged = await listTagged(repo, module)
  const ids = await findCommits(
    repo,
    tagged.map(({ tag }) => [{ name: tag, kind: 'tag' }]),
  )
  const known = ids.filter((id) => id !== undefined)
  const merged = await listMergedAmong(repo, { into: commit.id, ids: known })
  const versionsAt = (isMeant: (id: ObjectId) => boolean) =>
    tagged.flatMap(({ version }, at) => {
      const id = ids[at]
      return id !== undefined && isMeant(id) ? version : []
    })
  return { before: versionsAt((id) => merged.has(id)), own: versionsAt((id) => id === commit.id) }
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
    // What reads as a version, whole or not, is none of a branch.
    const found = tagged ?? (/^v\d/.test(name) ? undefined : await findPlain(repo, module, name))
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
  const { before, own } = await listVersionsIn(repo, module, commit)
  const start = startOf(module, highestOf(before))
  const version = highestOf(own) ?? `${start}${stampOf(commit)}-${commit.id.slice(0, 12)}`
  return { version, commit, mod }
}

/**
 * The pseudo-version of a commit without its time and id: above the highest version in its history and below the next
 * release, as the go command has it, or getting a branch would go back.
 */
function startOf(module: GoModule, base: string | undefined): string {
  if (base === undefined) return `v${module.major === 1 ? 0 : module.major}.0.0-`
  if (prerelease(base.slice(1)) !== null) return `${base}.0.`
  return `v${inc(base.slice(1), 'patch')}-0.`
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
