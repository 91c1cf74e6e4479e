import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { readFileAt } from '../../git/objects/file.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import { maySeeCode } from './access.ts'
import type { StackFrame } from './stack-trace.ts'

/** Files that are looked for in one request. */
const MOST_LOOKS = 200

/** Where the code of a frame stands in the repository. */
export interface Place {
  readonly path: string
  readonly url: string
}

/**
 * The commit that a release was made of: the release is its id, or a tag, or ends in one of them behind an `@` or `+`, as
 * `app@1.2.3` and `app@1.2.3+0123abc`. Undefined where the repository knows none, or the caller may not read it.
 */
export async function releaseCommit(
  ctx: Ctx,
  project: Project,
  release: string | null,
): Promise<string | undefined> {
  if (release === null || !maySeeCode(ctx, project)) return undefined
  const repo = ctx.git.open(project.id)
  for (const revision of revisionsOf(release)) {
    try {
      return (await resolveRevision(repo, revision.name, revision.options)).commitId
    } catch (error) {
      if (!(error instanceof GitError)) throw error
    }
  }
  return undefined
}

function revisionsOf(release: string) {
  const version = release.slice(release.lastIndexOf('@') + 1)
  const [plain = version, build = ''] = version.split('+', 2)
  const ids = [release, version, build].filter((one) => /^[0-9a-f]{7,40}$/.test(one))
  const tags = [...new Set([release, version, `v${version}`, plain, `v${plain}`])]
  return [
    ...ids.map((name) => ({ name, options: {} })),
    ...tags.filter(isTagName).map((name) => ({ name, options: { kind: 'tag' } as const })),
  ]
}

function isTagName(name: string): boolean {
  return /^[\w./+@-]{1,200}$/.test(name) && !name.startsWith('-')
}

/** Where each frame's file and line stand at a commit; undefined for code that is not the project's. */
export async function locateFrames(
  ctx: Ctx,
  project: Project,
  commit: string,
  frames: readonly StackFrame[],
): Promise<(Place | undefined)[]> {
  const finder = new FileFinder(ctx, project, commit)
  const places: (Place | undefined)[] = []
  for (const frame of frames) {
    const name = frame.in_app === false ? null : (frame.filename ?? frame.abs_path)
    const path = name === null ? undefined : await finder.find(name)
    places.push(path === undefined ? undefined : placeOf(ctx, project, commit, path, frame.lineNo))
  }
  return places
}

/** Looks files up at a commit, each path once, and only so many. */
class FileFinder {
  readonly #isThere: (path: string) => Promise<boolean>
  readonly #known = new Map<string, boolean>()

  constructor(ctx: Ctx, project: Project, commit: string) {
    this.#isThere = (path) => isFile(ctx, project, commit, path)
  }

  /** The path that a file name of a program means. */
  async find(name: string): Promise<string | undefined> {
    for (const path of candidates(name)) {
      const known = this.#known.get(path)
      if (known === undefined && this.#known.size >= MOST_LOOKS) return undefined
      const isThere = known ?? (await this.#isThere(path))
      this.#known.set(path, isThere)
      if (isThere) return path
    }
    return undefined
  }
}

function placeOf(
  ctx: Ctx,
  project: Project,
  commit: string,
  path: string,
  line: number | null,
): Place {
  const name = path.split('/').map(encodeURIComponent).join('/')
  const anchor = line === null ? '' : `#L${line}`
  const url = `${ctx.config.externalUrl}/${project.full_path}/-/blob/${commit}/${name}${anchor}`
  return { path, url }
}

/** The paths that a file name may mean, from the longest: a program's folders are not the repository's. */
function candidates(name: string): string[] {
  const plain = name
    .replace(/^(?:[a-z][a-z0-9+.-]*:\/\/[^/]*\/|[a-z]+:\/+)/i, '')
    .replace(/[?#].*$/, '')
    .replaceAll('\\', '/')
  const parts = plain.split('/').filter((part) => part !== '' && part !== '.' && part !== '~')
  if (parts.length === 0 || parts.length > 50 || parts.includes('..')) return []
  return parts.slice(0, 12).map((_, index) => parts.slice(index).join('/'))
}

async function isFile(ctx: Ctx, project: Project, ref: string, path: string): Promise<boolean> {
  try {
    await readFileAt(ctx.git.open(project.id), { ref, path })
    return true
  } catch (error) {
    if (error instanceof GitError) return false
    throw error
  }
}
