import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import { PatternBudget } from '../../base/patterns/budget.ts'
import { patternFault } from '../../base/patterns/check.ts'
import { PatternLimitError, PatternSyntaxError } from '../../base/patterns/pattern.ts'
import { invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Db } from '../../store/schema.ts'
import { inTransaction } from '../../store/transaction.ts'
import { findSettings, listSettingsAbove, saveSettings } from './queries.ts'

/** What the packages of a group's projects may do (docs/contract/C-resolved §5). */
export const packageSettings = z.strictObject({
  maven_duplicates_allowed: z.boolean().default(true),
  maven_duplicate_exception_regex: z.string().default(''),
  generic_duplicates_allowed: z.boolean().default(true),
  generic_duplicate_exception_regex: z.string().default(''),
  nuget_duplicates_allowed: z.boolean().default(true),
  nuget_duplicate_exception_regex: z.string().default(''),
  terraform_module_duplicates_allowed: z.boolean().default(false),
  terraform_module_duplicate_exception_regex: z.string().default(''),
  nuget_symbol_server_enabled: z.boolean().default(false),
  // Null takes what stands above; a lock makes it count for all groups below.
  npm_package_requests_forwarding: z.boolean().nullable().default(null),
  lock_npm_package_requests_forwarding: z.boolean().default(false),
  pypi_package_requests_forwarding: z.boolean().nullable().default(null),
  lock_pypi_package_requests_forwarding: z.boolean().default(false),
  maven_package_requests_forwarding: z.boolean().nullable().default(null),
  lock_maven_package_requests_forwarding: z.boolean().default(false),
})

export type PackageSettings = z.infer<typeof packageSettings>

/** The formats for which a group says whether a version may be published again. */
export type DuplicateType = 'maven' | 'generic' | 'nuget' | 'terraform_module'

export async function readPackageSettings(db: Db, namespaceId: number): Promise<PackageSettings> {
  return parsed(await findSettings(db, namespaceId))
}

function parsed(text: string | undefined): PackageSettings {
  return packageSettings.parse(text === undefined ? {} : JSON.parse(text))
}

/** Changes the settings that are given; exceptions that are no regular expression are refused. */
export async function changePackageSettings(
  ctx: Pick<Ctx, 'db'>,
  namespaceId: number,
  changes: { readonly [K in keyof PackageSettings]?: PackageSettings[K] | undefined },
): Promise<PackageSettings> {
  const given = Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  )
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== 'string') continue
    const fault = patternFault({ source: value, whole: true })
    if (fault !== undefined) throw invalid({ [name]: ['is invalid'] })
  }
  return await inTransaction(ctx, async ({ db }) => {
    const changed = { ...(await readPackageSettings(db, namespaceId)), ...given }
    await saveSettings(db, namespaceId, JSON.stringify(changed))
    return changed
  })
}

/** What the groups above say of forwarding a format: the highest that locks it, else the nearest that says anything. */
export async function readForwarding(
  db: Db,
  namespaceId: number,
  type: 'npm' | 'pypi' | 'maven',
): Promise<boolean | undefined> {
  const above = (await listSettingsAbove(db, namespaceId)).map((row) => parsed(row.settings))
  const name = `${type}_package_requests_forwarding` as const
  const said = above.filter((settings) => settings[name] !== null)
  const decisive = said.findLast((settings) => settings[`lock_${name}`]) ?? said[0]
  return decisive?.[name] ?? undefined
}

/**
 * Whether a version of a package that is there may be published once more. The project's own group decides; for
 * Terraform modules any group above that allows it. An exception turns the switch round for names and versions it matches.
 */
export async function mayDuplicate(
  ctx: Pick<Ctx, 'db'>,
  project: Pick<Project, 'namespace_id'>,
  type: DuplicateType,
  names: readonly string[],
): Promise<boolean> {
  const known = await listSettingsAbove(ctx.db, project.namespace_id)
  const own = known.find((row) => row.namespace_id === project.namespace_id)
  const counted = type === 'terraform_module' ? known : own ? [own] : []
  const settings =
    counted.length > 0 ? counted.map((row) => parsed(row.settings)) : [parsed(undefined)]
  const patterns = new PatternBudget({ caller: `packages of ${project.namespace_id}` })
  for (const one of settings) if (await allows(one, type, names, patterns)) return true
  return false
}

async function allows(
  settings: PackageSettings,
  type: DuplicateType,
  names: readonly string[],
  patterns: PatternBudget,
): Promise<boolean> {
  const isAllowed = settings[`${type}_duplicates_allowed`]
  const source = settings[`${type}_duplicate_exception_regex`]
  if (source === '') return isAllowed
  try {
    return isAllowed !== (await patterns.testAny({ source, whole: true }, names))
  } catch (error) {
    if (error instanceof PatternSyntaxError) return isAllowed
    // Nobody knows whether it is an exception: the version stays as it is.
    if (error instanceof PatternLimitError) return false
    throw error
  }
}
