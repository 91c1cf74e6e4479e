/** A variable of a job as the server sends it. */
export interface JobVariable {
  readonly key: string
  readonly value: string
  readonly file?: boolean
  readonly masked?: boolean
  readonly raw?: boolean
}

export interface JobStep {
  readonly name: string
  readonly script: readonly string[]
  readonly when?: string
  readonly allow_failure?: boolean
}

export interface JobImage {
  readonly name: string
  readonly entrypoint?: readonly string[] | null
  readonly pull_policy?: readonly string[]
}

export interface JobService extends JobImage {
  readonly alias?: string
  readonly command?: readonly string[] | null
  readonly variables?: readonly JobVariable[]
}

export interface JobArtifacts {
  readonly name?: string
  readonly untracked?: boolean
  readonly paths?: readonly string[] | null
  readonly exclude?: readonly string[] | null
  readonly when?: string
  readonly expire_in?: string
  readonly artifact_type: string
  readonly artifact_format: string
}

export interface JobCache {
  readonly key: string
  readonly untracked?: boolean
  readonly policy?: string
  readonly paths?: readonly string[] | null
  readonly when?: string
  readonly fallback_keys?: readonly string[]
}

/** What a server says of a job that it gives to a runner; what this program reads of it. */
export interface Job {
  readonly id: number
  readonly token: string
  readonly allow_git_fetch?: boolean
  readonly job_info: {
    readonly name: string
    readonly project_id: number
    readonly project_full_path?: string
    readonly project_name: string
  }
  readonly git_info: {
    readonly repo_url: string
    readonly ref: string
    readonly sha: string
    readonly refspecs: readonly string[]
    readonly depth: number
  }
  readonly runner_info: { readonly timeout: number }
  readonly variables: readonly JobVariable[]
  readonly steps: readonly JobStep[]
  readonly hooks?: readonly { readonly name: string; readonly script: readonly string[] }[]
  readonly image?: JobImage | null
  readonly services?: readonly JobService[] | null
  readonly artifacts?: readonly JobArtifacts[] | null
  readonly cache?: readonly JobCache[] | null
  readonly dependencies?: readonly {
    readonly id: number
    readonly name: string
    readonly token: string
    readonly artifacts_file?: { readonly filename: string; readonly size: number }
  }[]
  readonly features?: { readonly token_mask_prefixes?: readonly string[] }
}

/** A job as a server sends it. Its numbers become names of folders; an answer that is no job is an error. */
export function readJob(text: string): Job {
  const given = JSON.parse(text) as Partial<Job> | null // looked at below
  const isId = (id: unknown) => Number.isSafeInteger(id) && Number(id) >= 0
  const { job_info: info, git_info: git, runner_info: runner } = given ?? {}
  const isJob =
    isId(given?.id) &&
    typeof given?.token === 'string' &&
    isId(info?.project_id) &&
    typeof info?.project_name === 'string' &&
    typeof (info.project_full_path ?? '') === 'string' &&
    typeof git?.repo_url === 'string' &&
    typeof git.sha === 'string' &&
    Array.isArray(git.refspecs) &&
    Number(runner?.timeout) > 0 &&
    Array.isArray(given.variables) &&
    Array.isArray(given.steps) &&
    (given.dependencies ?? []).every((one) => isId(one?.id))
  if (!isJob) throw new Error('the server answers with something that is no job')
  return given as Job
}

/** Why a job ended otherwise than by its script. */
export type FailureReason =
  | 'script_failure'
  | 'runner_system_failure'
  | 'job_execution_timeout'
  | 'image_pull_failure'
  | 'runner_interrupted'
  | 'trace_size_exceeded'

/** A job that failed for a reason; `exitCode` is its script's. */
export class JobFailure extends Error {
  readonly reason: FailureReason
  readonly exitCode: number | undefined

  constructor(reason: FailureReason, message: string, exitCode?: number) {
    super(message)
    this.name = 'JobFailure'
    this.reason = reason
    this.exitCode = exitCode
  }
}
