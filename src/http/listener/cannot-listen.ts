import { reasonOf, StartError } from '../../base/start-error.ts'

/** Why an address cannot be listened on, and which setting says otherwise. */
export function cannotListen(
  error: NodeJS.ErrnoException,
  { host, port }: { readonly host: string; readonly port: number },
): StartError {
  const at = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  if (error.code === 'EADDRINUSE') {
    return new StartError(`${at} is in use: choose another GITSTEAD_PORT`)
  }
  if (error.code === 'EACCES') {
    return new StartError(
      `${at} needs more rights: choose a GITSTEAD_PORT from 1024 on, or let \`gitstead service install\` give it the right`,
    )
  }
  const advice = 'GITSTEAD_HOST must be an address of this machine'
  return new StartError(`cannot listen on ${at} (${reasonOf(error)}): ${advice}`)
}
