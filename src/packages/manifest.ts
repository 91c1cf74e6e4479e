import { every } from '../background/schedule.ts'
import { endpointsOf, type Manifest } from '../manifest.ts'
import { packages } from '../store/migrations/0200-packages.ts'
import * as cleanup from './cleanup/endpoints.ts'
import { runCleanupPolicies } from './cleanup/run.ts'
import * as composer from './composer/endpoints.ts'
import * as containerRegistry from './container-registry/endpoints.ts'
import * as generic from './generic/endpoints.ts'
import * as go from './go/endpoints.ts'
import * as helm from './helm/endpoints.ts'
import * as management from './management/endpoints.ts'
import * as maven from './maven/endpoints.ts'
import { rewriteMavenMetadata } from './maven/rewrite-metadata.ts'
import * as npm from './npm/endpoints.ts'
import * as protection from './protection/endpoints.ts'
import * as pypi from './pypi/endpoints.ts'
import { removeMarkedPackages } from './registry/remove.ts'
import * as settings from './settings/endpoints.ts'
import * as terraform from './terraform/endpoints.ts'

export const packagesArea: Manifest = {
  name: 'packages',
  endpoints: endpointsOf(
    cleanup,
    composer,
    containerRegistry,
    generic,
    go,
    helm,
    management,
    maven,
    npm,
    protection,
    pypi,
    settings,
    terraform,
  ),
  tasks: [removeMarkedPackages, rewriteMavenMetadata, runCleanupPolicies],
  schedules: [every(3_600_000, runCleanupPolicies, {})],
  migrations: [packages],
}
