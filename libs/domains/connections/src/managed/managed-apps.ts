import type { ManagedAccount } from '../mcp/tool-server';
import { ToolServers } from '../mcp/tool-server';

/** An app that a provider connects for us, as the catalog shows it. */
export interface ManagedApp {
  app_key: string;
  name: string;
  description: string;
  icon_url: string | null;
  knowledge_capable: boolean;
}

/** All that there are now. */
export interface ManagedListing {
  apps: readonly ManagedApp[];
  /** The provider did not answer, so it is not known which there are. */
  isAway: boolean;
}

/** Where somebody connects an account, and the account that it is then, before they have. */
export interface Link {
  url: string;
  account: ManagedAccount;
}

/**
 * Apps that a provider connects for us: people sign in on its pages, it keeps what they consent to, and calls their tools. To what asks for
 * tools, an account there is a server as any other (`ServerAddress.account`).
 */
export abstract class ManagedApps extends ToolServers {
  /**
   * Never throws: a provider that is away has no apps, and that is said. As it was when it was last asked, which is done in the background once
   * that is a minute ago. Only who asks when nothing is known of the last hour, or it was away, waits for it, and five seconds at most.
   */
  abstract listing(): Promise<ManagedListing>;
  /**
   * Begins to connect an account, for ten minutes.
   *
   * @param user whose it is at the provider: accounts of one are never those of another
   * @param backTo where the provider leads people back to
   * @throws ServerFailed
   */
  abstract link(app_key: string, user: string, backTo: string): Promise<Link>;
  /** Whether somebody has signed in, and the provider can still call with it. @throws ServerFailed where it does not say */
  abstract isActive(account: ManagedAccount, signal?: AbortSignal): Promise<boolean>;
  /** Has the provider forget an account, with what was consented to; one that it does not know is forgotten. @throws ServerFailed */
  abstract forget(accountId: string): Promise<void>;
}
