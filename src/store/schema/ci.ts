import type { Instant } from '../../base/clock.ts'
import type { RunnerType } from './ci-runners.ts'
import type { Default, DefaultFlag, Flag, Id, Json, Optional, OptionalInstant } from './columns.ts'
import type { PipelineStatus } from './commits.ts'

export interface CiSchema {
  /** A job of a pipeline; `bridge` ones start another pipeline. */
  ci_jobs: {
    id: Id
    project_id: number
    pipeline_id: number
    stage_id: number
    kind: 'build' | 'bridge'
    name: string
    status: Default<PipelineStatus>
    /** `when` of the configuration. */
    run_when: 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed'
    /** Seconds, for delayed ones. */
    start_in: Optional<number>
    scheduled_at: OptionalInstant
    allow_failure: DefaultFlag
    /** A newer job took its place. */
    retried: DefaultFlag
    /** Waits for `ci_job_needs` instead of the stages before its own. */
    uses_needs: DefaultFlag
    /** JSON list: what a runner must offer. */
    tags: Json
    /** JSON: script, image, artifacts, cache and the rest as the configuration says them. */
    options: Json
    /** JSON list of {key, value, raw}. */
    yaml_variables: Json
    /** Variables given when it was played. */
    sealed_variables: Optional<string>
    /** JSON */
    environment: Optional<string>
    resource_group: Optional<string>
    interruptible: DefaultFlag
    coverage_regex: Optional<string>
    coverage: Optional<number>
    /** Seconds. */
    timeout: Optional<number>
    node_index: Optional<number>
    node_total: Optional<number>
    user_id: Optional<number>
    failure_reason: Optional<string>
    queued_at: OptionalInstant
    started_at: OptionalInstant
    finished_at: OptionalInstant
    erased_at: OptionalInstant
    artifacts_expire_at: OptionalInstant
    created_at: Instant
    updated_at: Instant
    runner_id: Optional<number>
    runner_manager_id: Optional<number>
    exit_code: Optional<number>
    /** How often the server ran it again by itself, as `retry` of the configuration allows. */
    retries: Default<number>
  }

  /** Jobs that a runner has; the row, and with it the job token, goes when the job ends. */
  ci_running_jobs: {
    job_id: number
    project_id: number
    runner_id: number
    runner_type: RunnerType
    /** Whom the job acts as. */
    user_id: Optional<number>
    token_digest: Buffer
    /** The runner runs `after_script` when a job is canceled. */
    can_cancel: DefaultFlag
    /** 0 until the runner has said that it runs the job. */
    accepted: DefaultFlag
    /** JSON list of values that its log must not show. */
    sealed_masks: string
    /** JSON list of the ids of jobs elsewhere whose artifacts it may download. */
    foreign_sources: Json
    /** When its timeout is over. */
    ends_at: Instant
    contacted_at: Instant
    /** Since when the runner reports an end while its log is not whole. */
    unproven_since: OptionalInstant
  }

  /** The log of a job: a file that grows, and a stored file after the end. */
  ci_traces: {
    job_id: number
    /** Bytes received. */
    size: Default<number>
    /** Bytes that readers see: the end may be the beginning of a masked value. */
    shown: Default<number>
    /** CRC-32 of what was received; null when a crash took the count. */
    crc: Optional<number>
    /** The stored file, once the job has ended. */
    sha256: Optional<string>
    /** Written with `CI_DEBUG_TRACE`, which shows every variable. */
    debug: DefaultFlag
    updated_at: Instant
  }

  ci_job_artifacts: {
    id: Id
    job_id: number
    project_id: number
    /** `archive`, `metadata`, `junit` and so on. */
    file_type: string
    file_format: 'zip' | 'gzip' | 'raw'
    filename: string
    size: number
    sha256: string
    access: Default<'public' | 'private' | 'developer' | 'maintainer' | 'none'>
    expire_at: OptionalInstant
    created_at: Instant
  }

  /** Variables that a job hands to later ones by a dotenv report. */
  ci_job_variables: {
    job_id: number
    key: string
    sealed_value: string
  }

  /** Variables of the instance (neither group nor project), of a group or of a project. */
  ci_variables: {
    id: Id
    group_id: Optional<number>
    project_id: Optional<number>
    key: string
    sealed_value: string
    variable_type: Default<'env_var' | 'file'>
    protected: DefaultFlag
    masked: DefaultFlag
    /** Never shown again once set. */
    hidden: DefaultFlag
    raw: DefaultFlag
    environment_scope: Default<string>
    description: Optional<string>
    created_at: Instant
    updated_at: Instant
  }

  /** What a job reports of its tests; written when its reports arrive. */
  ci_test_suites: {
    id: Id
    job_id: number
    name: string
    total_time: Default<number>
    success_count: Default<number>
    failed_count: Default<number>
    skipped_count: Default<number>
    error_count: Default<number>
    suite_error: Optional<string>
    /** JSON list of test cases. */
    cases: Json
  }

  ci_stages: {
    id: Id
    pipeline_id: number
    name: string
    /** From 0, in the order in which they run. */
    position: number
  }

  /** Jobs that wait for a runner: the queue that runners ask. */
  ci_pending_jobs: {
    job_id: number
    project_id: number
    /** JSON list: what a runner must offer. */
    tags: Json
    protected: Flag
    queued_at: Instant
  }

  ci_job_needs: {
    job_id: number
    /** Of a job in the same pipeline. */
    name: string
    artifacts: DefaultFlag
  }

  /** Variables given to one run of a pipeline. */
  pipeline_variables: {
    pipeline_id: number
    key: string
    sealed_value: string
    variable_type: Default<'env_var' | 'file'>
    raw: DefaultFlag
  }

  /** The bridge job that made a pipeline. */
  pipeline_sources: {
    pipeline_id: number
    job_id: number
    /** The bridge ends as the pipeline does. */
    depends: DefaultFlag
  }

  /** A file of a project that its jobs fetch: keys, certificates, profiles. */
  ci_secure_files: {
    id: Id
    project_id: number
    name: string
    /** sha256 of the bytes that were uploaded, in hex. */
    checksum: string
    /** The sealed bytes in the store of files. */
    sealed_file: string
    /** Of the bytes that were uploaded. */
    size: number
    /** What a certificate says of itself, as JSON. */
    metadata: Optional<string>
    expires_at: OptionalInstant
    created_at: Instant
  }
}
