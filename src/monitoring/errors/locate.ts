import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { type FilePlace, findCommits, findFiles } from '../../git/objects/look-ups.ts'
import { maySeeCode } from './access.ts'
import type { StackFrame } from './stack-trace.ts'

/** Files that are looked for in one request: more than the frames of one event can mean. */
const MOST_LOOKS = 5000

/** Where the code of a frame stands in the repository. */
export interface Place {
  readonly path: string
  readonly url: string
}

/**
 * The commits that releases were made of: a release is the id of one, or a tag, or ends in one of them behind an `@` or
 * `+`, as `app@1.2.3` and `app@1.2.3+0123abc`. Undefined where the repository knows none, or the caller may not read it.
 */
export async function releaseCommits(
  ctx: Ctx,
  project: Project,
  releases: readonly (string | null)[],
): Promise<(string | undefined)[]> {
  const named = [...new Set(releases.filter((release) => release !== null))]
  if (named.length === 0 || !maySeeCode(ctx, project)) return releases.map(() => undefined)
  const commits = await orNone(findCommits(ctx.git.open(project.id), named.map(revisionsOf)))
  return releases.map((release) => (release === null ? undefined : commits[named.indexOf(release)]))
}

/** Nothing is found in a repository that cannot be read. */
async function orNone<T>(work: Promise<T[]>): Promise<T[]> {
  try {
    return await work
  } catch (error) {
    if (error instanceof GitError) return []
    throw error
  }
}

function revisionsOf(release: string) {
  const version = release.slice(release.lastIndexOf('@') + 1)
  const [plain = version, build = ''] = version.split('+', 2)
  const ids = [release, version, build].filter((one) => /^[0-9a-f]{7,40}$/.test(one))
  const tags = [...new Set([release, version, `v${version}`, plain, `v${plain}`])]
  return [
    ...ids.map((name) => ({ name })),
    ...tags.filter(isTagName).map((name) => ({ name, kind: 'tag' as const })),
  ]
}

function isTagName(name: string): boolean {
  return /^[\w./+@-]{1,200}$/.test(name) && !name.startsWith('-')
}

/** Frames of code at a commit. */
export interface Stack {
  readonly commit: string | undefined
  readonly frames: readonly StackFrame[]
}

/** Where the files and lines of frames stand at their commits; undefined for code that is not the project's. */
export async function locateFrames(
  ctx: Ctx,
  project: Project,
  stacks: readonly Stack[],
): Promise<(Place | undefined)[][]> {
  const wanted = new Map<string, FilePlace>()
  for (const { commit, frames } of stacks) {
    for (const frame of frames) {
      for (const place of placesOf(commit, frame)) {
        if (wanted.size < MOST_LOOKS) wanted.set(keyOf(place), place)
      }
    }
  }
  const places = [...wanted.values()]
  if (places.length === 0) return stacks.map(() => [])
  const blobs = await orNone(findFiles(ctx.git.open(project.id), places))
  const there = new Set(places.filter((_, at) => blobs[at] !== undefined).map(keyOf))
  return stacks.map(({ commit, frames }) =>
    frames.map((frame) => {
      const found = placesOf(commit, frame).find((place) => there.has(keyOf(place)))
      return found && linkTo(ctx, project, found, frame.lineNo)
    }),
  )
}

const keyOf = ({ ref, path }: FilePlace) => `${ref}:${path}`

/** The places that the file of a frame may mean, the likeliest first. */
function placesOf(commit: string | undefined, frame: StackFrame): FilePlace[] {
  const name = frame.in_app === false ? null : (frame.filename ?? frame.abs_path)
  if (commit === undefined || name === null) return []
  return candidates(name).map((path) => ({ ref: commit, path }))
}

function linkTo(ctx: Ctx, project: Project, { ref, path }: FilePlace, line: number | null): Place {
  const name = path.split('/').map(encodeURIComponent).join('/')
  const anchor = line === null ? '' : `#L${line}`
  const url = `${ctx.config.externalUrl}/${project.full_path}/-/blob/${ref}/${name}${anchor}`
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
