import { join } from 'node:path'
import type { Workspace } from './folder/workspace.ts'
import { JobFailure } from './job.ts'
import { type Command, runProcess } from './processes/run-process.ts'
import { machineEnvironment } from './shell-executor.ts'

/* git runs for a job outside of its container. */

/** The settings of a checkout are the job's to change: none of them may run a program outside of the job. */
const SAFE_GIT = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'safe.directory=*'].flatMap(
  (setting) => ['-c', setting],
)
/**
 * Where the server of a repository keeps its large files. Without this a `.lfsconfig` in the commit names the place: git-lfs
 * would ask any server for it, or read other folders of this machine.
 */
function largeFilesAt(repoUrl: string): string[] {
  // The password is that of the remote, which git-lfs takes for the same host; lists of processes show arguments.
  const address = repoUrl.replace(/\/\/[^/]*@/, '//').replace(/(\.git)?\/*$/, '.git/info/lfs')
  return ['lfs.url', 'lfs.pushurl'].flatMap((name) => ['-c', `${name}=${address}`])
}

/** Bytes of names of untracked files. */
const MOST_LISTED = 64 * 1024 * 1024

/** Runs git in a folder; gives its exit code. What it prints goes to the log, unless somebody else takes it. */
export type JobGit = (
  args: readonly string[],
  cwd: string,
  more?: {
    readonly env?: Readonly<Record<string, string>>
    readonly output?: (piece: Buffer) => void
  },
) => Promise<number>

/** The git of a job, which ends with its scripts and asks the server of one repository for large files. */
export function gitOfJob(
  repoUrl: string,
  job: Pick<Command, 'processes' | 'signal' | 'output' | 'drained'>,
): JobGit {
  const settings = [...SAFE_GIT, ...largeFilesAt(repoUrl)]
  return async (args, cwd, { env, output } = {}) => {
    const { code } = await runProcess({
      ...job,
      program: 'git',
      args: [...settings, ...args],
      cwd,
      env: {
        ...machineEnvironment(),
        ...{ GIT_TERMINAL_PROMPT: '0', GIT_LFS_SKIP_SMUDGE: '1' },
        ...env,
      },
      limits: { memory: 0, processes: 0 },
      ...(output ? { output } : {}),
    })
    return code
  }
}

/**
 * Files of the checkout that git does not know. Its settings are the job's by now: git looks by those of a repository that is
 * made for this.
 */
export async function listUntracked(git: JobGit, workspace: Workspace): Promise<string[]> {
  const { project, temporary } = workspace
  const own = join(temporary, 'untracked')
  await git(['init', '--quiet', '--template=', own], temporary)
  const pieces: Buffer[] = []
  let size = 0
  await git(
    ['--git-dir', join(own, '.git'), '--work-tree', project, 'ls-files', '-z', '--others'],
    project,
    {
      env: { GIT_INDEX_FILE: join(project, '.git', 'index') },
      output: (piece) => {
        size += piece.length
        if (size <= MOST_LISTED) pieces.push(piece)
      },
    },
  )
  if (size > MOST_LISTED) throw new JobFailure('script_failure', 'too many untracked files')
  return Buffer.concat(pieces).toString('utf8').split('\0').filter(Boolean)
}
