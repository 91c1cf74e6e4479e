import type { Workspace } from './folder/workspace.ts'
import type { Job } from './job.ts'
import type { JobProcesses } from './processes/job-processes.ts'
import type { Ended, Limits } from './processes/run-process.ts'

/** What a script of a job runs with. */
export interface ScriptRun {
  readonly script: string
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly output: (piece: Buffer) => void
  readonly drained: () => Promise<void>
}

/** Where the scripts of one job run. */
export interface JobPlace {
  run(given: ScriptRun): Promise<Ended>
  /** Ends everything that the job has left running there. */
  close(): Promise<void>
}

export interface PlaceInput {
  readonly job: Job
  readonly workspace: Workspace
  readonly env: Readonly<Record<string, string>>
  readonly limits: Limits
  readonly processes: JobProcesses
  readonly signal: AbortSignal
  /** Says something in the log. */
  readonly say: (line: string) => void
  readonly output: (piece: Buffer) => void
  readonly drained: () => Promise<void>
  /** Replaces variables in the names of images. */
  readonly expand: (text: string) => string
}

/** How scripts are run: by the shell of this machine, or in containers. */
export interface Executor {
  readonly name: 'shell' | 'container'
  open(given: PlaceInput): Promise<JobPlace>
}
