import type { Instant } from '../../base/clock.ts'
import type { Default, Id, Optional, OptionalInstant } from './columns.ts'

export type PackageType =
  | 'composer'
  | 'conan'
  | 'generic'
  | 'golang'
  | 'helm'
  | 'maven'
  | 'npm'
  | 'nuget'
  | 'pypi'
  | 'terraform_module'

export type PackageStatus =
  | 'default'
  | 'hidden'
  | 'processing'
  | 'error'
  | 'pending_destruction'
  | 'deprecated'

export interface PackagesSchema {
  /** One version of a package; a name without a version is Maven's place for metadata of all versions. */
  packages: {
    id: Id
    project_id: number
    package_type: PackageType
    name: string
    /** The name as its format compares it. */
    name_key: string
    version: Optional<string>
    /** The version as its format compares it, empty without one. */
    version_key: string
    status: Default<PackageStatus>
    status_message: Optional<string>
    creator_id: Optional<number>
    created_at: Instant
    updated_at: Instant
  }

  /** A file of a package; its bytes are in the file store under `file_sha256`. */
  package_files: {
    id: Id
    project_id: number
    package_id: number
    file_name: string
    size: number
    file_sha256: string
    file_sha1: string
    file_md5: string
    file_sha512: Optional<string>
    status: Default<'default' | 'pending_destruction'>
    /** JSON of its format. */
    metadata: Optional<string>
    created_at: Instant
    updated_at: Instant
  }

  package_tags: {
    id: Id
    package_id: number
    name: string
    created_at: Instant
    updated_at: Instant
  }

  package_protection_rules: {
    id: Id
    project_id: number
    /** `*` stands for any text. */
    package_name_pattern: string
    package_type: PackageType
    /** An access level; null leaves publishing as it is. */
    minimum_access_level_for_push: Optional<number>
    minimum_access_level_for_delete: Optional<number>
    created_at: Instant
    updated_at: Instant
  }

  package_cleanup_policies: {
    project_id: number
    /** A number, or `all`. */
    keep_n_duplicated_package_files: Default<string>
    next_run_at: OptionalInstant
  }

  /** What a package says about itself, as JSON of its format. */
  package_metadata: {
    package_id: number
    content: string
  }

  /** Which pipelines published a package; the id orders them. */
  package_pipelines: {
    id: Id
    package_id: number
    pipeline_id: number
  }

  package_file_pipelines: {
    package_file_id: number
    pipeline_id: number
  }

  /** Apart from the package, so that a download changes nothing that lists are read from. */
  package_downloads: {
    package_id: number
    last_downloaded_at: Instant
  }

  /** Metadata as clients download it, ready-made; gone when what it was made of changes. */
  package_documents: {
    project_id: number
    package_type: PackageType
    name_key: string
    /** Which of several documents about the same name. */
    form: string
    /** Who makes it: only the last one who began may store it. */
    build: string
    /** Null while it is being made. */
    etag: Optional<string>
    /** Compressed by gzip. */
    content: Optional<Buffer>
  }

  /** Settings of the packages in a group, as JSON. */
  package_settings: {
    namespace_id: number
    settings: string
  }

  /** A file of a public registry; its bytes are in the file store. */
  forwarded_files: {
    id: Id
    package_type: string
    /** The address of the registry: another one has other files. */
    root: string
    path: string
    file_sha256: string
    file_sha1: string
    file_md5: string
    size: number
    content_type: string
    upstream_etag: Optional<string>
    upstream_checked_at: Instant
    /** To the hour. */
    used_at: Instant
    created_at: Instant
  }
}
