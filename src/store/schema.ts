import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'
import type { AccountsSchema } from './schema/accounts.ts'
import type { AlertsSchema } from './schema/alerts.ts'
import type { BackupsSchema } from './schema/backups.ts'
import type { BoardsSchema } from './schema/boards.ts'
import type { CiSchema } from './schema/ci.ts'
import type { CiRunnersSchema } from './schema/ci-runners.ts'
import type { CiStartsSchema } from './schema/ci-starts.ts'
import type { CommitsSchema } from './schema/commits.ts'
import type { ContainerRegistrySchema } from './schema/container-registry.ts'
import type { CoreSchema } from './schema/core.ts'
import type { EnvironmentsSchema } from './schema/environments.ts'
import type { ErrorsSchema } from './schema/errors.ts'
import type { FeatureFlagsSchema } from './schema/feature-flags.ts'
import type { HealthSchema } from './schema/health.ts'
import type { HooksSchema } from './schema/hooks.ts'
import type { IssuesSchema } from './schema/issues.ts'
import type { LfsSchema } from './schema/lfs.ts'
import type { MergeRequestsSchema } from './schema/merge-requests.ts'
import type { MirrorsSchema } from './schema/mirrors.ts'
import type { PackagesSchema } from './schema/packages.ts'
import type { PlanningSchema } from './schema/planning.ts'
import type { RefsSchema } from './schema/refs.ts'
import type { ReleasesSchema } from './schema/releases.ts'
import type { SpacesSchema } from './schema/spaces.ts'
import type { VirtualRegistriesSchema } from './schema/virtual-registries.ts'
import type { WikisAndSnippetsSchema } from './schema/wikis-and-snippets.ts'

/** Every table. An area adds its interface here and its migration to its manifest. */
export interface Schema
  extends AccountsSchema,
    AlertsSchema,
    BackupsSchema,
    BoardsSchema,
    CiRunnersSchema,
    CiSchema,
    CiStartsSchema,
    CommitsSchema,
    ContainerRegistrySchema,
    CoreSchema,
    EnvironmentsSchema,
    ErrorsSchema,
    FeatureFlagsSchema,
    HealthSchema,
    HooksSchema,
    IssuesSchema,
    LfsSchema,
    MergeRequestsSchema,
    MirrorsSchema,
    PackagesSchema,
    VirtualRegistriesSchema,
    PlanningSchema,
    RefsSchema,
    ReleasesSchema,
    WikisAndSnippetsSchema,
    SpacesSchema {}

/** The database, or the transaction that we are in. */
export type Db = Kysely<Schema>

/** A row of a table as queries read it. */
export type RowOf<T extends keyof Schema> = Selectable<Schema[T]>

/** What makes a row of a table. */
export type NewRowOf<T extends keyof Schema> = Insertable<Schema[T]>

/** Columns of a row that change. */
export type ChangesOf<T extends keyof Schema> = Updateable<Schema[T]>
