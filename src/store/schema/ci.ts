import type { Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Id, Json, Optional, OptionalInstant } from './columns.ts'
import type { PipelineStatus } from './commits.ts'

export interface CiStagesTable {
  id: Id
  pipeline_id: number
  name: string
  /** From 0, in the order in which they run. */
  position: number
}

/** A job of a pipeline; `bridge` ones start another pipeline. */
export interface CiJobsTable {
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
}

export interface CiJobNeedsTable {
  job_id: number
  /** Of a job in the same pipeline. */
  name: string
  artifacts: DefaultFlag
}

/** Variables given to one run of a pipeline. */
export interface PipelineVariablesTable {
  pipeline_id: number
  key: string
  sealed_value: string
  variable_type: Default<'env_var' | 'file'>
  raw: DefaultFlag
}

/** The bridge job that made a pipeline. */
export interface PipelineSourcesTable {
  pipeline_id: number
  job_id: number
  /** The bridge ends as the pipeline does. */
  depends: DefaultFlag
}

/** What a job reports of its tests; written when its reports arrive. */
export interface CiTestSuitesTable {
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

export interface CiSchema {
  ci_stages: CiStagesTable
  ci_jobs: CiJobsTable
  ci_job_needs: CiJobNeedsTable
  pipeline_variables: PipelineVariablesTable
  pipeline_sources: PipelineSourcesTable
  ci_test_suites: CiTestSuitesTable
}
