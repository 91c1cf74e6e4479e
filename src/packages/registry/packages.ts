import type { PackageStatus, PackageType } from '../../store/schema/packages.ts'

/** Every format, in the order of the alphabet (docs/contract/C §Package). */
export const PACKAGE_TYPES = [
  'composer',
  'conan',
  'generic',
  'golang',
  'helm',
  'maven',
  'npm',
  'nuget',
  'pypi',
  'terraform_module',
] as const satisfies readonly PackageType[]

export const PACKAGE_STATUSES = [
  'default',
  'hidden',
  'processing',
  'error',
  'pending_destruction',
  'deprecated',
] as const satisfies readonly PackageStatus[]

/** What lists show unless they are asked for something else (docs/contract/C-resolved §3.1). */
export const LISTED: readonly PackageStatus[] = ['default', 'deprecated', 'error']

/** What one package's own page shows. */
export const DISPLAYED: readonly PackageStatus[] = ['default', 'deprecated']

/** What clients may download (docs/contract/C-resolved §3.1). */
export const INSTALLABLE: readonly PackageStatus[] = ['default', 'hidden', 'deprecated']
