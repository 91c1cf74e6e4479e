/** What each scope lets an application do, in the words of the page that asks. */
const WORDS: Readonly<Record<string, string>> = {
  api: 'Read and change everything that you can, through the API and git',
  read_api: 'Read everything that you can, through the API',
  read_user: 'Read your profile',
  read_repository: 'Read your repositories',
  write_repository: 'Read and change your repositories',
  read_registry: 'Read container images',
  write_registry: 'Push container images',
  read_virtual_registry: 'Read through virtual registries',
  write_virtual_registry: 'Read and fill virtual registries',
  create_runner: 'Create runners',
  manage_runner: 'Manage runners',
  k8s_proxy: 'Call the Kubernetes API of agents',
  self_rotate: 'Rotate its own token',
  ai_features: 'Use AI features',
  read_observability: 'Read observability data',
  write_observability: 'Write observability data',
  sudo: 'Act as any user, when you are an administrator',
  admin_mode: 'Use your rights as an administrator',
  read_service_ping: 'Read usage figures of the instance',
  openid: 'Know who you are',
  profile: 'Read your name and profile',
  email: 'Read your e-mail address',
}

/** What a scope lets an application do. */
export function scopeWords(scope: string): string {
  return WORDS[scope] ?? scope
}
