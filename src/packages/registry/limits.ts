import { planLimit, type planLimits } from '../../access/plan-limits.ts'
import { forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { PackageType } from '../../store/schema/packages.ts'
import { sumStored } from './queries.ts'

const limitNames: Readonly<Partial<Record<PackageType, keyof typeof planLimits>>> = {
  conan: 'conan_max_file_size',
  generic: 'generic_packages_max_file_size',
  helm: 'helm_max_file_size',
  maven: 'maven_max_file_size',
  npm: 'npm_max_file_size',
  nuget: 'nuget_max_file_size',
  pypi: 'pypi_max_file_size',
  terraform_module: 'terraform_module_max_file_size',
}

/** Largest file of a package: the limit of the server, and the plan's where it is smaller; 0 of either is none. */
export function maxFileSize(ctx: Pick<Ctx, 'config' | 'settings'>, type: PackageType): number {
  const name = limitNames[type]
  const ofPlan = (name && planLimit(ctx.settings, name)) || Number.POSITIVE_INFINITY
  return Math.min(ofPlan, ctx.config.maxPackageFile || Number.POSITIVE_INFINITY)
}

/** Refuses what would make a project's packages and images larger than the operator allows. */
export async function assertWithinQuota(
  ctx: Pick<Ctx, 'config' | 'db'>,
  projectId: number,
  more: number,
): Promise<void> {
  const most = ctx.config.maxProjectPackages
  if (most === 0) return
  const used = await sumStored(ctx.db, projectId)
  if (used + more > most) {
    throw forbidden('The packages of this project have reached their size limit')
  }
}
