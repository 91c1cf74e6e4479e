import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PlaceInput } from '../executor.ts'
import { JobFailure } from '../job.ts'
import { type Limits, runProcess } from '../processes/run-process.ts'
import { machineEnvironment } from '../shell-executor.ts'

/** Of what the program says, in pieces of a pipe. */
const MOST_PIECES = 64

/** podman or docker, as one job uses it. */
export interface ContainerTool {
  /** Runs a command; gives its exit code and what it wrote. */
  run(
    args: readonly string[],
    signal?: AbortSignal,
  ): Promise<{ readonly code: number; readonly text: string }>
  /** As `run`: what fails is shown in the log, and ends the job for a reason. */
  must(args: readonly string[], reason: JobFailure['reason']): Promise<string>
}

export function containerTool(program: string, given: PlaceInput): ContainerTool {
  const run: ContainerTool['run'] = async (args, signal = given.signal) => {
    const said: Buffer[] = []
    const { code } = await runProcess({
      program,
      args,
      cwd: given.workspace.builds,
      env: toolEnvironment(),
      // It may start what all containers of the machine use, such as their name server.
      processes: undefined,
      limits: { memory: 0, processes: 0 },
      signal,
      output: (piece) => {
        if (said.length < MOST_PIECES) said.push(piece)
      },
      drained: async () => undefined,
    })
    return { code, text: Buffer.concat(said).toString('utf8') }
  }
  return {
    run,
    async must(args, reason) {
      const { code, text } = await run(args)
      if (code === 0) return text
      // What goes well says only names that nobody asked for.
      given.output(Buffer.from(text))
      throw new JobFailure(reason, `${program} ${args[0]} failed`)
    },
  }
}

/** What podman and docker themselves read. */
const TOOL_SETTINGS = [
  'CONTAINER_HOST',
  'CONTAINERS_CONF',
  'CONTAINERS_STORAGE_CONF',
  'DBUS_SESSION_BUS_ADDRESS',
  'DOCKER_CONFIG',
  'DOCKER_CONTEXT',
  'DOCKER_HOST',
  'REGISTRY_AUTH_FILE',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
]

/** The environment of the program: the operator's, and nothing that a job could choose. */
export function toolEnvironment(): Record<string, string> {
  const settings = TOOL_SETTINGS.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return { ...machineEnvironment(), ...Object.fromEntries(settings) }
}

/**
 * The arguments that bring variables into a container, by a file that no list of processes shows. Values of more than
 * one line cannot stand in such a file and are left out.
 */
export async function variableArguments(
  { workspace }: PlaceInput,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  const path = join(workspace.temporary, `${name}.env`)
  const lines = Object.entries(env)
    .filter(([key, value]) => isVariableName(key) && !isLong(value))
    .map(([key, value]) => `${key}=${value}\n`)
  await writeFile(path, lines.join(''), { mode: 0o600 })
  return ['--env-file', path]
}

/** The arguments that keep a container to what a job may take. */
export function limitArguments({ memory, processes }: Limits): string[] {
  return [
    ...(memory > 0 ? ['--memory', String(memory)] : []),
    ...(processes > 0 ? ['--pids-limit', String(processes)] : []),
  ]
}

/** Variables whose values have more than one line. */
export function longVariables(env: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(env).filter(([key, value]) => isVariableName(key) && isLong(value))
}

const isVariableName = (key: string) => /^[A-Za-z_]\w*$/.test(key)
const isLong = (value: string) => /[\r\n]/.test(value)
