import { spawn } from 'node:child_process'
import { gitEnvironment } from '../../bench/measure.ts'

export interface GitRun {
  readonly ok: boolean
  readonly stdout: Buffer
  readonly stderr: string
}

/** Runs the git program as a client does; gives how it ended instead of throwing. */
export function runGit(
  folder: string,
  args: readonly string[],
  input?: string | Buffer,
): Promise<GitRun> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd: folder, env: gitEnvironment })
    const out: Buffer[] = []
    let stderr = ''
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString('utf8')
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ ok: code === 0, stdout: Buffer.concat(out), stderr }))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/** As `runGit`, for what must go well: its output. */
export async function gitBytes(
  folder: string,
  args: readonly string[],
  input?: string | Buffer,
): Promise<Buffer> {
  const run = await runGit(folder, args, input)
  if (!run.ok) throw new Error(`git ${args.join(' ')}: ${run.stderr}`)
  return run.stdout
}

export async function gitText(
  folder: string,
  args: readonly string[],
  input?: string,
): Promise<string> {
  return (await gitBytes(folder, args, input)).toString('utf8').trim()
}
