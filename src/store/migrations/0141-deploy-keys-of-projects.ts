import type { Migration } from '../migration.ts'

/** A private deploy key goes with the last project that has it, also when that one is deleted: its key is free again. */
export const deployKeysOfProjects: Migration = {
  name: '0141-deploy-keys-of-projects',
  sql: `
DELETE FROM ssh_keys WHERE deploy = 1 AND public = 0
  AND NOT EXISTS (SELECT 1 FROM deploy_key_projects WHERE key_id = ssh_keys.id);
CREATE TRIGGER deploy_key_projects_last AFTER DELETE ON deploy_key_projects
WHEN NOT EXISTS (SELECT 1 FROM deploy_key_projects WHERE key_id = OLD.key_id) BEGIN
  DELETE FROM ssh_keys WHERE id = OLD.key_id AND deploy = 1 AND public = 0;
END;
`,
}
