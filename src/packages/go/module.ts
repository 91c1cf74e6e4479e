import { major, prerelease, rcompare, valid } from 'semver'
import type { Project } from '../../access/subjects.ts'
import { notFound, type Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'

/** A Go module that a project holds. */
export interface GoModule {
  /** As `go.mod` says it: `host/group/project/sub/v2`. */
  readonly name: string
  /** The folder of its go.mod, empty for the root. */
  readonly folder: string
  /** Of the suffix `/vN`; 1 stands for 0 and 1, which have none. */
  readonly major: number
}

/** What the go command reads as "ask the next proxy". */
export function noModule(): Problem {
  return notFound('Module')
}

/** Upper-case letters come as `!` and the small letter (the module proxy protocol); others are refused. */
export function decodeCase(text: string): string | undefined {
  if (/[A-Z]|![^a-z]|!$/.test(text)) return undefined
  return text.replaceAll(/!([a-z])/g, (_all, letter: string) => letter.toUpperCase())
}

/** The module of a path below a project; 404 for names that are not the project's. */
export function readModule(
  ctx: Pick<Ctx, 'config'>,
  project: Pick<Project, 'full_path'>,
  encoded: string,
): GoModule {
  const name = decodeCase(encoded)
  const { hostname, pathname } = new URL(ctx.config.externalUrl)
  const root = `${hostname}${pathname.replace(/\/$/, '')}/${project.full_path}`
  if (name === undefined || !(name === root || name.startsWith(`${root}/`))) throw noModule()
  const parts = name.slice(root.length).split('/').filter(Boolean)
  if (parts.some((part) => part === '.' || part === '..')) throw noModule()
  const suffix = /^v([2-9]|[1-9]\d{1,8})$/.exec(parts.at(-1) ?? '')
  const folder = (suffix ? parts.slice(0, -1) : parts).join('/')
  return { name, folder, major: suffix ? Number(suffix[1]) : 1 }
}

/** Whether a version (`v1.2.3`) may be of a module: major versions from 2 stand in its name. */
export function isVersionOf(module: GoModule, version: string): boolean {
  const plain = version.slice(1)
  // Go's versions have no build metadata.
  if (!version.startsWith('v') || valid(plain) !== plain) return false
  return Math.max(1, major(plain)) === module.major
}

/** The highest version, pre-releases among them. */
export function highestOf(versions: readonly string[]): string | undefined {
  const [highest] = versions.map((one) => one.slice(1)).sort(rcompare)
  return highest === undefined ? undefined : `v${highest}`
}

/** The version that `@latest` means: the highest release, else the highest pre-release. */
export function latestOf(versions: readonly string[]): string | undefined {
  const sorted = versions.map((one) => one.slice(1)).sort(rcompare)
  const best = sorted.find((one) => prerelease(one) === null) ?? sorted[0]
  return best === undefined ? undefined : `v${best}`
}
