/** Types of the API for TypeScript clients. Written by `npm run openapi` from openapi.json; do not edit. */
export interface paths {
    "/api/admin/admins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the platform administrators
         * @description For operators of the platform; with an API token, of scope `admin:read`.
         */
        get: operations["platformAdmins.list"];
        put?: never;
        /**
         * Make a registered user a platform administrator
         * @description For operators of the platform; with an API token, of scope `admin:write`.
         */
        post: operations["platformAdmins.add"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/admins/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Take the administration of the platform from a user
         * @description Not from yourself, and not from the last one who can act.
         *
         *     For operators of the platform; with an API token, of scope `admin:write`.
         */
        delete: operations["platformAdmins.remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/allowed-emails": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the addresses that may sign up
         * @description For operators of the platform; with an API token, of scope `admin:read`.
         */
        get: operations["allowedEmails.list"];
        put?: never;
        /**
         * Let an address sign up
         * @description For operators of the platform; with an API token, of scope `admin:write`.
         */
        post: operations["allowedEmails.add"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/allowed-emails/{allowed_email_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Let an address sign up no longer
         * @description Whoever has signed up stays.
         *
         *     For operators of the platform; with an API token, of scope `admin:write`.
         */
        delete: operations["allowedEmails.remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the platform's audit log, newest first
         * @description What operators did anywhere, and what belongs to no organization.
         *
         *     For operators of the platform; with an API token, of scope `admin:read`.
         */
        get: operations["adminAudit.platform"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/orgs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List organizations
         * @description For operators of the platform; with an API token, of scope `admin:read`.
         */
        get: operations["adminOrgs.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/orgs/{org_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an organization and its roster
         * @description For operators of the platform; with an API token, of scope `admin:read`.
         */
        get: operations["adminOrgs.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/orgs/{org_id}/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an organization's audit log, newest first
         * @description What operators did to it, merged with what happened inside it.
         *
         *     For operators of the platform; with an API token, of scope `admin:read`.
         */
        get: operations["adminAudit.organization"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/orgs/{org_id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a registered user to an organization
         * @description Nobody is created or invited, and the plan's number of seats does not bind.
         *
         *     For operators of the platform; with an API token, of scope `admin:write`.
         */
        post: operations["adminMembers.add"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/orgs/{org_id}/members/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a member
         * @description Refused for the last owner.
         *
         *     For operators of the platform; with an API token, of scope `admin:write`.
         */
        delete: operations["adminMembers.remove"];
        options?: never;
        head?: never;
        /**
         * Change a member's role
         * @description Refused when it would leave no owner.
         *
         *     For operators of the platform; with an API token, of scope `admin:write`.
         */
        patch: operations["adminMembers.setRole"];
        trace?: never;
    };
    "/api/admin/orgs/{org_id}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Suspend an organization
         * @description Its members are locked out and its work stops. Repeating it changes nothing.
         *
         *     For operators of the platform; with an API token, of scope `admin:write`.
         */
        post: operations["adminOrgs.suspend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/orgs/{org_id}/unsuspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the suspension of an organization
         * @description Repeating it changes nothing.
         *
         *     For operators of the platform; with an API token, of scope `admin:write`.
         */
        post: operations["adminOrgs.unsuspend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/orgs/{org_id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What an organization has used
         * @description The same figures that its members see.
         *
         *     For operators of the platform; with an API token, of scope `admin:read`.
         */
        get: operations["adminOrgs.usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/subscriptions/backfill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Subscribe organizations that have no subscription
         * @description Never changes an existing subscription; repeating it creates none.
         *
         *     For operators of the platform; with an API token, of scope `admin:write`.
         */
        post: operations["adminSubscriptions.backfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/users/{user_id}/deactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deactivate a user
         * @description Ends their sessions and refuses their API tokens. Not yourself. Repeating it changes nothing.
         *
         *     For operators of the platform; with an API token, of scope `admin:write`.
         */
        post: operations["adminUsers.deactivate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/users/{user_id}/reactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reactivate a user
         * @description Their API tokens work again; their sessions do not come back.
         *
         *     For operators of the platform; with an API token, of scope `admin:write`.
         */
        post: operations["adminUsers.reactivate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/waitlist": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who asked for access, most recently asked first
         * @description For operators of the platform; with an API token, of scope `admin:read`.
         */
        get: operations["adminWaitlist.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/waitlist/{waitlist_id}/dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put a pending request aside
         * @description The row is kept; asking again makes it pending.
         *
         *     For operators of the platform; with an API token, of scope `admin:write`.
         */
        post: operations["adminWaitlist.dismiss"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/waitlist/{waitlist_id}/invite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let somebody in and mail it to them
         * @description Somebody who is in already gets no second mail.
         *
         *     For operators of the platform; with an API token, of scope `admin:write`.
         */
        post: operations["adminWaitlist.invite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/waitlist/{waitlist_id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mail the admission again
         * @description Refused when it was never granted.
         *
         *     For operators of the platform; with an API token, of scope `admin:write`.
         */
        post: operations["adminWaitlist.resend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in
         * @description Anybody may call this.
         */
        post: operations["auth.login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the session
         * @description For any signed-in user.
         */
        post: operations["auth.logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who am I
         * @description For any signed-in user.
         */
        get: operations["auth.me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change my profile
         * @description Only the fields that are present; an explicit null removes the picture.
         *
         *     For any signed-in user.
         */
        patch: operations["auth.updateMe"];
        trace?: never;
    };
    "/api/auth/password/change": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change my password
         * @description All other sessions end; API tokens only with `revoke_tokens`.
         *
         *     For any signed-in user.
         */
        post: operations["password.change"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/password/forgot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for a link to choose a new password
         * @description The answer is the same whether the address has an account or not.
         *
         *     Anybody may call this.
         */
        post: operations["password.forgot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/password/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Choose a new password with a mailed link
         * @description The link is good for one hour and once. All sessions end; API tokens only with `revoke_tokens`.
         *
         *     Anybody may call this.
         */
        post: operations["password.reset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange the session for a new one
         * @description The old session ends.
         *
         *     For any signed-in user.
         */
        post: operations["auth.refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List my sessions
         * @description Where I am signed in, newest first. Only a session can do this.
         *
         *     For any signed-in user.
         */
        get: operations["auth.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End one of my sessions
         * @description It stops working within a second; the current one may be ended, too.
         *
         *     For any signed-in user.
         */
        delete: operations["auth.end"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/signup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign up
         * @description Redeems the pending invitations of the address; with none, makes an organization that the new user owns. Unless an `invitation_token` proves the address, a link is mailed, and invitations wait for `POST /api/auth/verify`; who is invited has no organization until then. (With `EMAIL_PROOF=off` every address counts as proven.)
         *
         *     Anybody may call this.
         */
        post: operations["auth.signup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Prove an address with a mailed link
         * @description Redeems the pending invitations of the address. The link is good for 24 hours and once; a bad or used one is 422 `verification_invalid`.
         *
         *     Anybody may call this.
         */
        post: operations["emailProof.verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/verify/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for another link that proves an address
         * @description The answer is the same for every address; one that is proven, or has been mailed three of them in the last hour, gets none.
         *
         *     Anybody may call this.
         */
        post: operations["emailProof.resend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/invitations/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the invitation behind a link
         * @description Anybody may call this.
         */
        get: operations["invitationLinks.preview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/invitations/{token}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invitation
         * @description For callers who have an account; signing up accepts by itself.
         *
         *     For any signed-in user; with an API token, of scope `members:write`.
         */
        post: operations["invitationLinks.accept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the models of the platform
         * @description Those that are on, in display order. Prices are null when every organization of the caller pays in credits.
         *
         *     For any signed-in user.
         */
        get: operations["models.catalog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the caller's organizations
         * @description By name; suspended ones too. A token that is confined to one organization sees that one.
         *
         *     For any signed-in user; with an API token, of scope `settings:read`.
         */
        get: operations["organizations.list"];
        put?: never;
        /**
         * Make an organization
         * @description The caller becomes its owner. Without a slug, one is made from the name.
         *
         *     For any signed-in user; with an API token, of scope `settings:write`.
         */
        post: operations["organizations.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show an organization
         * @description For members of the organization; with an API token, of scope `settings:read`.
         */
        get: operations["organizations.get"];
        put?: never;
        post?: never;
        /**
         * Delete an organization
         * @description Nobody gets in from now on, pending invitations die, the slug is free again.
         *
         *     For the OWNER of the organization; with an API token, of scope `settings:write`.
         */
        delete: operations["organizations.remove"];
        options?: never;
        head?: never;
        /**
         * Change name or slug of an organization
         * @description For ADMIN and OWNER of the organization; with an API token, of scope `settings:write`.
         */
        patch: operations["organizations.update"];
        trace?: never;
    };
    "/api/orgs/{org_id}/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List agents
         * @description Newest first.
         *
         *     For members of the organization; with an API token, of scope `agents:read`.
         */
        get: operations["agents.list"];
        put?: never;
        /**
         * Create an agent
         * @description It is sealed and deployed as version 1 at once.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `agents:write`.
         */
        post: operations["agents.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an agent
         * @description For members of the organization; with an API token, of scope `agents:read`.
         */
        get: operations["agents.get"];
        put?: never;
        post?: never;
        /**
         * Delete an agent
         * @description Refused while other agents name it. Its slug is free again. What its chats do is stopped and their questions to humans are cancelled; they stay readable, and messages, `continue` and `retry` there are refused with `agent_deleted`.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `agents:write`.
         */
        delete: operations["agents.remove"];
        options?: never;
        head?: never;
        /**
         * Edit an agent
         * @description Edits the draft only. What is live changes when a revision is deployed, or at once with `deploy=true`.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `agents:write`.
         */
        patch: operations["agents.update"];
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the agent’s chats
         * @description Newest first, without their messages. Only chats that the caller may open.
         *
         *     For members of the organization; with an API token, of scope `chats:read`.
         */
        get: operations["chats.list"];
        put?: never;
        /**
         * Open a chat
         * @description The chat keeps the agent revision that is live now.
         *
         *     For members of the organization; with an API token, of scope `chats:write`.
         */
        post: operations["chats.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a chat with all its messages
         * @description For members of the organization; with an API token, of scope `chats:read`.
         */
        get: operations["chats.get"];
        put?: never;
        post?: never;
        /**
         * Delete a chat
         * @description Nobody finds it any more, and nothing of it runs. Chats that it has delegated to are not deleted.
         *
         *     For members of the organization; with an API token, of scope `chats:write`.
         */
        delete: operations["chatControl.remove"];
        options?: never;
        head?: never;
        /**
         * Rename, share or archive a chat
         * @description At least one field. An archived chat keeps its open questions to humans, but answers no longer have it go on.
         *
         *     For members of the organization; with an API token, of scope `chats:write`.
         */
        patch: operations["chatControl.update"];
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/continue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Continue a chat
         * @description Dispatches the next turn of a chat that failed, or was closed because credits were used up or its model has no price, without a new message. Two at once dispatch one turn.
         *
         *     For members of the organization; with an API token, of scope `chats:write`.
         */
        post: operations["chatControl.continue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/cost-breakdown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the chat has cost, by kind of token and by model
         * @description Every model call of the chat counts, its title and summaries too, at the prices of its time. Chats that it delegated to stand apart, in `descendants`.
         *
         *     For members of the organization; with an API token, of scope `chats:read`.
         */
        get: operations["cost.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/diagnosis": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain what a chat waits for
         * @description What keeps it from going on, who runs it, where it stands in the queue, and what may be done. Works while no worker and no queue can be reached.
         *
         *     For members of the organization; with an API token, of scope `chats:read`.
         */
        get: operations["chatControl.diagnosis"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message
         * @description Stores the message and dispatches the turn that answers it; follow the chat’s stream for the answer. While a turn runs, the message waits and becomes its own turn. A 503 means that the message is stored and nothing runs: repeat the request with the same `Idempotency-Key`, continue the chat, or send another message.
         *
         *     For members of the organization; with an API token, of scope `chats:write`.
         */
        post: operations["chats.send"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/presence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say that one has the chat open
         * @description To be repeated every `heartbeat_interval_s`; who is silent for `expires_in_s` is gone. An open stream alone is no presence. The chat’s streams are told of who comes and goes by `presence_changed` (no id, best effort), with `viewers` as they are then.
         *
         *     For members of the organization; with an API token, of scope `chats:write`.
         */
        post: operations["chatPresence.heartbeat"];
        /**
         * Say that one has closed the chat
         * @description Best effort: who does not say it ages out.
         *
         *     For members of the organization; with an API token, of scope `chats:write`.
         */
        delete: operations["chatPresence.leave"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin a chat anew
         * @description Opens a new chat of the caller with what users wrote before the first answer, on the agent as it is live now, and dispatches it at once. The chat itself is left as it is.
         *
         *     For members of the organization; with an API token, of scope `chats:write`.
         */
        post: operations["chatControl.retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop what the chat is doing
         * @description Ends the running turn, one that has not begun, or the waiting for child chats, a timer or room to run; waiting for a human goes on. The chat stays usable. With `cascade`, every chat that it has delegated to is stopped likewise. Doing nothing is no error.
         *
         *     For members of the organization; with an API token, of scope `chats:write`.
         */
        post: operations["chatControl.stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow a chat
         * @description Server-sent events: `snapshot` first, then every event of the chat once and in order, with its number as `id`, and `message_delta` and `presence_changed` in between (no id, best effort). Resume with `Last-Event-ID` or `?after=`; no id is too old. `ping` every 15 seconds. A user may have 20 streams open at once, unless the service is set up otherwise; the next is answered 429.
         *
         *     For members of the organization; with an API token, of scope `chats:read`.
         */
        get: operations["chats.stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/terminate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a chat
         * @description It is archived for good: what runs is cut off, questions to humans are cancelled. Chats that it has delegated to run on.
         *
         *     For members of the organization; with an API token, of scope `chats:write`.
         */
        post: operations["chatControl.terminate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What has happened in the chat
         * @description Newest first: what users wrote (`user_message_received`), the steps of the agent (`agent_step`, by `metadata.kind` a model call or a tool call, with its tokens and cost), and every event that the chat’s stream keeps. An event stands once. Clients ignore types that they do not know.
         *
         *     For members of the organization; with an API token, of scope `chats:read`.
         */
        get: operations["timeline.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/todos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what the agent means to do
         * @description For members of the organization; with an API token, of scope `chats:read`.
         */
        get: operations["chats.todos"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/toggles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the chat has switched on
         * @description The web, and each active connection that the agent of this chat is granted.
         *
         *     For members of the organization; with an API token, of scope `chats:read`.
         */
        get: operations["toggles.get"];
        /**
         * Switch the web and connections on and off in a chat
         * @description Give exactly one of `toggles`, which is merged into what is set, and `enabled_scopes`, which replaces it. Who may open the chat may switch. It holds for turns that begin afterwards. Switching never grants what the agent may not use.
         *
         *     For members of the organization; with an API token, of scope `chats:write`.
         */
        put: operations["toggles.change"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an agent’s decisions
         * @description Newest first. Only of chats that the caller may open, whether the decision log is on or off.
         *
         *     For members of the organization; with an API token, of scope `decisions:read`.
         */
        get: operations["agentDecisions.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/decisions/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive decisions
         * @description By ids or by a filter; an empty filter archives every live one. What is archived already keeps the time when it was.
         *
         *     For members of the organization; with an API token, of scope `decisions:write`.
         */
        post: operations["agentDecisions.archive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/decisions/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Group an agent’s decisions by the basis that they cite
         * @description Word for word; the largest group first, then the latest. `total` counts groups. Only of chats that the caller may open, whether the decision log is on or off.
         *
         *     For members of the organization; with an API token, of scope `decisions:read`.
         */
        get: operations["agentDecisions.groups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/decisions/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Agree to many decisions
         * @description By ids or by a filter. Only unreviewed ones that are not archived are changed.
         *
         *     For members of the organization; with an API token, of scope `decisions:write`.
         */
        post: operations["agentDecisions.review"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/decisions/unarchive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bring decisions back from the archive
         * @description By ids or by a filter; an empty filter brings back every one. What was thought of them stays.
         *
         *     For members of the organization; with an API token, of scope `decisions:write`.
         */
        post: operations["agentDecisions.unarchive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/instruction": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the instruction of an agent
         * @description The published one and the draft.
         *
         *     For members of the organization; with an API token, of scope `agents:read`.
         */
        get: operations["agentInstruction.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/instruction/draft": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Save the instruction draft
         * @description Begins a draft if there is none. Of several saves with one `base_version` exactly one succeeds.
         *
         *     For members of the organization; with an API token, of scope `agents:write`.
         */
        put: operations["agentInstruction.saveDraft"];
        post?: never;
        /**
         * Discard the instruction draft
         * @description For members of the organization; with an API token, of scope `agents:write`.
         */
        delete: operations["agentInstruction.discard"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/instruction/draft/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish the instruction draft
         * @description It becomes part of the next revision that is sealed.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `agents:write`.
         */
        post: operations["agentInstruction.publish"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/instruction/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of the instruction
         * @description The draft first, then newest first.
         *
         *     For members of the organization; with an API token, of scope `agents:read`.
         */
        get: operations["agentInstruction.revisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the memories of an agent
         * @description Newest first.
         *
         *     For members of the organization; with an API token, of scope `agents:read`.
         */
        get: operations["agentMemories.list"];
        put?: never;
        /**
         * Give an agent a memory
         * @description For ADMIN and OWNER of the organization; with an API token, of scope `agents:write`.
         */
        post: operations["agentMemories.add"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/memories/{memory_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a memory of an agent
         * @description For ADMIN and OWNER of the organization; with an API token, of scope `agents:write`.
         */
        delete: operations["agentMemories.remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sealed revisions of an agent
         * @description Newest first.
         *
         *     For members of the organization; with an API token, of scope `agents:read`.
         */
        get: operations["agentRevisions.list"];
        put?: never;
        /**
         * Seal the draft
         * @description Makes a revision of the draft. When nothing has changed since the latest one, that one is returned.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `agents:write`.
         */
        post: operations["agentRevisions.seal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/revisions/{revision_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a sealed revision
         * @description For members of the organization; with an API token, of scope `agents:read`.
         */
        get: operations["agentRevisions.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/revisions/{revision_id}/deploy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deploy a revision
         * @description New chats run on it from now on; an older one is a rollback. A running experiment ends. Deploying what is live already changes nothing.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `agents:write`.
         */
        post: operations["agentRevisions.deploy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/rollouts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the rollouts of an agent
         * @description Deployments and experiments, newest first.
         *
         *     For members of the organization; with an API token, of scope `rollouts:read`.
         */
        get: operations["rollouts.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/agents/{agent_id}/rollouts/{rollout_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a rollout
         * @description For members of the organization; with an API token, of scope `rollouts:read`.
         */
        get: operations["rollouts.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit log of an organization
         * @description Newest first.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `settings:read`.
         */
        get: operations["organizationAudit.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/chats/{chat_id}/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the decisions of a chat
         * @description Oldest first, archived ones included.
         *
         *     For members of the organization; with an API token, of scope `decisions:read`.
         */
        get: operations["chatDecisions.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/chats/{chat_id}/decisions/{decision_id}/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Review a decision
         * @description Any status may follow any other. Nothing but the decision changes.
         *
         *     For members of the organization; with an API token, of scope `decisions:write`.
         */
        post: operations["chatDecisions.review"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/chats/{chat_id}/decisions/{decision_id}/revision-draft": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a dispute into the agent’s instruction draft
         * @description Needs `disputed` with `should_have`. Appends it once, beginning a draft from the published instruction if there is none. Nothing is published or deployed.
         *
         *     For members of the organization; with an API token, of scope `decisions:write`.
         */
        post: operations["chatDecisions.revisionDraft"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow many topics on one stream
         * @description Server-sent events. A `snapshot` of each topic first; then every event of each topic once and, within the topic, in order; `message_delta` and `presence_changed` in between, best effort. The `id` of a frame stands for all topics at once: `Last-Event-ID` or `?after=` resumes each where the client was, on any replica; a topic that it does not know begins with its snapshot. `data.id` is the number of the event within its topic. `ping` every 15 seconds, with `topic` null. Topics that are not there or that the caller may not follow are answered 404 with `context.topics`, and nothing is followed. `topic_closed` says that the caller may not follow a topic any more; the stream goes on with the others. A stream counts as one of the user’s, however many topics it has.
         *
         *     For members of the organization; with an API token, of scope `chats:read`.
         */
        get: operations["events.follow"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/files/{file_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the bytes of a file
         * @description For who uploaded it, and for whoever may open something that refers to it. Answers `HEAD`, `Range`, `If-Range` and `If-None-Match`. Shown by browsers only where it is an image or plain text.
         *
         *     For members of the organization; with an API token, of scope `chats:read`.
         */
        get: operations["files.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/hitl-requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List requests to humans
         * @description Newest first: those of chats that the caller may open, and those that are assigned to the caller.
         *
         *     For members of the organization; with an API token, of scope `chats:read`.
         */
        get: operations["hitl.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/hitl-requests/{request_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a request to a human
         * @description For members of the organization; with an API token, of scope `chats:read`.
         */
        get: operations["hitl.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/hitl-requests/{request_id}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a request
         * @description The chat goes on when no other question of the same step is open. Everybody who sees a request may answer it; where there is an assignee, that user and admins. What is approved runs exactly as the request shows it, or with the edited arguments.
         *
         *     For members of the organization; with an API token, of scope `chats:write`.
         */
        post: operations["hitl.answer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the members
         * @description Oldest membership first.
         *
         *     For members of the organization; with an API token, of scope `members:read`.
         */
        get: operations["members.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/members/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the pending invitations
         * @description Oldest first.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `members:read`.
         */
        get: operations["invitations.list"];
        put?: never;
        /**
         * Add or invite somebody
         * @description An address with an account, and proven, becomes a member at once; any other gets a mail with a link that is good for 14 days.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `members:write`.
         */
        post: operations["invitations.invite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/members/invitations/{invitation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a pending invitation
         * @description Its link is dead for good; inviting again makes a new one.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `members:write`.
         */
        delete: operations["invitations.revoke"];
        options?: never;
        head?: never;
        /**
         * Change the role that an invitation offers
         * @description Only an owner can raise it to ADMIN or OWNER.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `members:write`.
         */
        patch: operations["invitations.setRole"];
        trace?: never;
    };
    "/api/orgs/{org_id}/members/invite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add or invite somebody (the same as POST …/invitations)
         * @description An address with an account, and proven, becomes a member at once; any other gets a mail with a link that is good for 14 days.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `members:write`.
         */
        post: operations["invitations.inviteAlias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/members/leave": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Leave the organization
         * @description For members of the organization; with an API token, of scope `members:write`.
         */
        post: operations["members.leave"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/members/{member_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a member
         * @description For members of the organization; with an API token, of scope `members:read`.
         */
        get: operations["members.get"];
        put?: never;
        post?: never;
        /**
         * Remove a member
         * @description Only an owner can remove an owner. Nobody removes themself (422 `self_action`, see leave).
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `members:write`.
         */
        delete: operations["members.remove"];
        options?: never;
        head?: never;
        /**
         * Change a member's role
         * @description Only an owner can give ADMIN or OWNER, or change an owner. Nobody changes their own role (422 `self_action`).
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `members:write`.
         */
        patch: operations["members.setRole"];
        trace?: never;
    };
    "/api/orgs/{org_id}/model-config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what model pickers offer
         * @description Allowlist, default and models of each scope.
         *
         *     For members of the organization; with an API token, of scope `settings:read`.
         */
        get: operations["models.config"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/model-modes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the model modes
         * @description What an organization without direct model choice chooses from.
         *
         *     For members of the organization; with an API token, of scope `settings:read`.
         */
        get: operations["models.modes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the models that an organization may choose
         * @description Filtered by its allowlists.
         *
         *     For members of the organization; with an API token, of scope `settings:read`.
         */
        get: operations["models.models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/settings/ai/routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the settings of all routes
         * @description Keys are masked.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `settings:read`.
         */
        get: operations["inferenceSettings.getRoutes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set keys, addresses and switches of routes
         * @description Changes all that is listed, or nothing.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `settings:write`.
         */
        patch: operations["inferenceSettings.updateRoutes"];
        trace?: never;
    };
    "/api/orgs/{org_id}/settings/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get default models, allowlists and the budget
         * @description As stored, even where the plan would refuse it now.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `settings:read`.
         */
        get: operations["inferenceSettings.getLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set default models, allowlists and the budget
         * @description Setting models needs `direct_model_choice`; a budget needs a plan that does not pay in credits. Clearing is always allowed.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `settings:write`.
         */
        patch: operations["inferenceSettings.updateLimits"];
        trace?: never;
    };
    "/api/orgs/{org_id}/settings/limits/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what was spent this month
         * @description For ADMIN and OWNER of the organization; with an API token, of scope `settings:read`.
         */
        get: operations["inferenceSettings.getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/settings/runtime": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get how turns run
         * @description For ADMIN and OWNER of the organization; with an API token, of scope `settings:read`.
         */
        get: operations["inferenceSettings.getRuntime"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set how turns run
         * @description Holds from the start of the next turn.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `settings:write`.
         */
        patch: operations["inferenceSettings.updateRuntime"];
        trace?: never;
    };
    "/api/orgs/{org_id}/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List skills
         * @description The organization’s own and those of the system, by slug.
         *
         *     For members of the organization; with an API token, of scope `agents:read`.
         */
        get: operations["skills.list"];
        put?: never;
        /**
         * Create a skill
         * @description For ADMIN and OWNER of the organization; with an API token, of scope `agents:write`.
         */
        post: operations["skills.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/skills/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a skill
         * @description For members of the organization; with an API token, of scope `agents:read`.
         */
        get: operations["skills.get"];
        /**
         * Replace a skill
         * @description Skills of the system are read-only.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `agents:write`.
         */
        put: operations["skills.replace"];
        post?: never;
        /**
         * Delete a skill
         * @description Refused while agents mount it. Skills of the system are read-only.
         *
         *     For ADMIN and OWNER of the organization; with an API token, of scope `agents:write`.
         */
        delete: operations["skills.remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload a file
         * @description One file of at most 50 MiB. It lives for 24 hours, and from then on as long as something refers to it, such as a message that it is attached to. Its media type is told from its bytes.
         *
         *     For members of the organization; with an API token, of scope `chats:write`.
         */
        post: operations["files.upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/orgs/{org_id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the organization has used
         * @description For members of the organization; with an API token, of scope `billing:read`.
         */
        get: operations["orgUsage.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/realtime/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a ticket for a stream
         * @description For clients that cannot send a header, as a browser’s `EventSource`: `?ticket=` opens one stream about these topics, or some of them, within 60 seconds. It opens no more than the caller may follow when the stream opens, and the stream ends when the session or token ends that the ticket was asked for with.
         *
         *     For any signed-in user.
         */
        post: operations["tickets.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List my API tokens
         * @description Newest first, without revoked ones. A token that is pinned to an organization sees those pinned to the same.
         *
         *     For any signed-in user; with an API token, of scope `settings:read`.
         */
        get: operations["tokens.list"];
        put?: never;
        /**
         * Make an API token
         * @description The answer shows the token, this once. Only a session can do this.
         *
         *     For any signed-in user.
         */
        post: operations["tokens.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens/{token_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API token
         * @description It stops working within a second.
         *
         *     For any signed-in user; with an API token, of scope `settings:write`.
         */
        delete: operations["tokens.revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/waitlist": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask to be let in
         * @description The answer is the same for every address.
         *
         *     Anybody may call this.
         */
        post: operations["waitlist.join"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AddAllowedEmailRequest: {
            /**
             * Format: email
             * @description Address that may sign up; compared without regard to case.
             * @example grace@example.com
             */
            email: string;
        };
        AddPlatformAdminRequest: {
            /**
             * Format: email
             * @description Address of a registered user; compared without regard to case.
             * @example ada@example.com
             */
            email: string;
        };
        AdminAddMemberRequest: {
            /**
             * Format: email
             * @description Address of a registered user. Nobody is created or invited.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description Their role.
             * @default MEMBER
             */
            role?: components["schemas"]["OrgRole"];
        };
        AdminSetRoleRequest: {
            /**
             * @description The new role.
             * @example OWNER
             */
            role: components["schemas"]["OrgRole"];
        };
        AdminUserRef: {
            /**
             * Format: uuid
             * @description The user.
             */
            user_id: string;
            /**
             * @description Their address.
             * @example ada@example.com
             */
            email: string;
        };
        AffectedAgent: {
            /**
             * Format: uuid
             * @description The agent.
             */
            id: string;
            /**
             * @description Its name.
             * @example Support
             */
            name: string;
            /**
             * @description The model it names, which the allowlist leaves out; it runs on the default for agents.
             * @example claude-opus-5-5
             */
            model: string;
        };
        AgentDecisionPage: {
            /** @description The rows of this page. */
            items: components["schemas"]["DecisionResponse"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        AgentLiveRevision: {
            /**
             * Format: uuid
             * @description The revision that new chats run on.
             */
            id: string;
            /**
             * @description Its number.
             * @example 3
             */
            version: number;
        };
        AgentMemoryResponse: {
            /**
             * Format: uuid
             * @description The memory.
             */
            id: string;
            /**
             * @description What to remember.
             * @example The customer writes in German and wants answers in German.
             */
            content: string;
            /** @description Whose it is. */
            owner: components["schemas"]["MemoryOwnerResponse"];
            /** @description Who wrote it. */
            source: components["schemas"]["MemorySource"];
            /**
             * Format: uuid
             * @description The user who wrote it; null when an agent did.
             */
            created_by: string | null;
            /**
             * Format: date-time
             * @description When it was written.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The same: a memory never changes.
             * @example 2026-11-20T09:30:00.000Z
             */
            updated_at: string;
        };
        AgentResponse: {
            /**
             * Format: uuid
             * @description The agent.
             */
            id: string;
            /**
             * @description What people call it.
             * @example Support agent
             */
            name: string;
            /**
             * @description Names it in addresses and tool scopes.
             * @example support-agent
             */
            slug: string;
            /**
             * @description What it is for.
             * @example Answers support questions from the handbook.
             */
            description: string | null;
            /**
             * @description Clients draw its picture from it.
             * @example teal-fox
             */
            avatar_seed: string | null;
            /**
             * Format: uuid
             * @description The team it belongs to.
             */
            team_id: string | null;
            /**
             * Format: uuid
             * @description The project it belongs to.
             */
            project_id: string | null;
            /**
             * @description The published instruction; empty when there is none.
             * @example You answer politely and briefly.
             */
            instruction: string;
            /**
             * @description Version of the published instruction; 0 when there is none.
             * @example 1
             */
            instruction_version: number;
            /**
             * @description Whether a change of the instruction is being written.
             * @example false
             */
            has_instruction_draft: boolean;
            /**
             * @description Key of its model; null for the default.
             * @example mock
             */
            model: string | null;
            /**
             * @description Its mode; null for the default.
             * @example normal
             * @enum {string|null}
             */
            model_mode: "trivial" | "normal" | "high_effort" | "x_high" | null;
            /**
             * @description Null for the default.
             * @example medium
             * @enum {string|null}
             */
            reasoning_effort: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | null;
            /**
             * @description Tool scopes that it may use.
             * @example [
             *       "core",
             *       "system:web"
             *     ]
             */
            allowed_tools: string[];
            /**
             * @description Tool scopes that it may not use, whoever grants them.
             * @example []
             */
            denied_tools: string[];
            /**
             * @description Slugs of the skills that it mounts.
             * @example [
             *       "clear-writing"
             *     ]
             */
            mounted_skills: string[];
            /** @description Knowledge bases that it reads. */
            knowledge_base_ids: string[];
            /**
             * Format: uuid
             * @description Where its commands run; null for the built-in sandbox.
             */
            environment_id: string | null;
            /** @description Agents that it may delegate to. */
            child_agent_ids: string[];
            /**
             * @description Model calls that one turn may take.
             * @example 50
             */
            max_steps: number;
            /**
             * @description How deep delegation may go.
             * @example 5
             */
            max_child_depth: number;
            /**
             * Format: decimal
             * @description Credits it may spend in a billing period.
             * @example 500.000000
             */
            budget_credits_per_period: string | null;
            /**
             * @description Whether it may write memories.
             * @example false
             */
            memory_enabled: boolean;
            /**
             * @description The caller’s own.
             * @example {
             *       "cost_centre": "4711"
             *     }
             */
            metadata: {
                [key: string]: unknown;
            };
            /** @description What new chats run on. */
            live_revision: components["schemas"]["AgentLiveRevision"] | null;
            /**
             * @description Whether sealing and deploying now would change what is live.
             * @example false
             */
            draft_dirty: boolean;
            /**
             * Format: uuid
             * @description The experiment that runs, if any.
             */
            running_rollout_id: string | null;
            /**
             * Format: uuid
             * @description Who made it.
             */
            created_by: string | null;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             * @example 2026-11-20T09:30:00.000Z
             */
            updated_at: string;
        };
        AgentRevisionResponse: {
            /**
             * Format: uuid
             * @description The revision.
             */
            id: string;
            /**
             * Format: uuid
             * @description The agent it belongs to.
             */
            agent_id: string;
            /**
             * @description 1, 2, 3 … within the agent, without gaps.
             * @example 3
             */
            version: number;
            /**
             * @description SHA-256 over the canonical JSON (RFC 8785) of `config`, hex. Equal configurations have equal hashes.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            hash: string;
            /** @description What it seals. */
            config: components["schemas"]["SealedAgentConfigResponse"];
            /**
             * @description Whether new chats run on it.
             * @example true
             */
            is_live: boolean;
            /**
             * Format: uuid
             * @description Who sealed it.
             */
            created_by: string | null;
            /**
             * Format: date-time
             * @description When it was sealed.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The same: a revision never changes.
             * @example 2026-11-20T09:30:00.000Z
             */
            updated_at: string;
        };
        AgreeDecisionsRequest: {
            /** @description These. Those that the caller may not see, and those of other agents, are not there: they are not counted. */
            decision_ids?: string[] | null;
            /** @description All that it finds. Exactly one of `decision_ids` and `filter`. */
            filter?: components["schemas"]["DecisionReviewFilter"] | null;
            /**
             * @description Many at once can only be agreed to.
             * @enum {string}
             */
            review_status: "agreed";
        };
        AllowedEmailResponse: {
            /**
             * Format: uuid
             * @description The entry.
             */
            id: string;
            /**
             * @description The address that may sign up.
             * @example grace@example.com
             */
            email: string;
            /** @description The operator who added it. */
            added_by: components["schemas"]["AdminUserRef"] | null;
            /**
             * Format: date-time
             * @description When it was added.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
        };
        AnswerHitlRequest: {
            /** @description Of an approval, required there. `edit` approves with other arguments. */
            decision?: components["schemas"]["HitlDecision"] | null;
            /**
             * @description Of a question: the answer in words.
             * @example Take the train
             */
            answer?: string | null;
            /** @description Of a question with options: the chosen one. */
            option_id?: string | null;
            /** @description Of a form, required there: values by its schema, at most 32,000 characters as JSON. */
            values?: {
                [key: string]: unknown;
            } | null;
            /** @description Of an approval that is edited: all arguments of the call, at most 200,000 characters as JSON. They are checked by the tool when it runs. */
            edited_arguments?: {
                [key: string]: unknown;
            } | null;
            /** @description For the agent, with any answer. */
            note?: string | null;
        };
        AnsweredHitlRequest: {
            /**
             * Format: uuid
             * @description The request.
             */
            id: string;
            /**
             * Format: uuid
             * @description The chat that waits; null for a process run.
             */
            chat_id: string | null;
            /**
             * Format: uuid
             * @description The process run that waits; null for a chat.
             */
            run_id: string | null;
            /**
             * Format: uuid
             * @description The agent that asks.
             */
            agent_id: string | null;
            /** @description Step of the turn, or of the process run. */
            step_id: string | null;
            /** @description What is asked for: an answer or an option, a yes or no, or values. */
            kind: components["schemas"]["HitlKind"];
            /** @description What the human reads. */
            prompt: string;
            /** @description Of a question: what can be chosen. */
            options: components["schemas"]["HitlOption"][];
            /** @description Of a form: JSON Schema of its values. */
            schema: {
                [key: string]: unknown;
            } | null;
            /** @description Of an approval: what runs when it is given. */
            tool_call: components["schemas"]["HitlToolCall"] | null;
            /** @description Only a pending one can be answered. */
            status: components["schemas"]["HitlStatus"];
            /**
             * Format: uuid
             * @description Who has to answer; null: anybody who sees it.
             */
            assignee_user_id: string | null;
            /**
             * Format: date-time
             * @description When it is given up, and its chat with it.
             */
            expires_at: string;
            /**
             * Format: uuid
             * @description Who answered.
             */
            answered_by: string | null;
            /**
             * Format: date-time
             * @description When it was answered.
             */
            answered_at: string | null;
            /** @description The answer; null until there is one. */
            answer: components["schemas"]["HitlAnswer"] | null;
            /**
             * Format: date-time
             * @description When it was asked.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it changed last.
             */
            updated_at: string;
            /** @description Whether the chat goes on now. False while other questions of the same step are open, and where the chat is archived. */
            resumed: boolean;
        };
        ArchiveDecisionsRequest: {
            /** @description These. Those that the caller may not see, and those of other agents, are not there: they are not counted. */
            decision_ids?: string[] | null;
            /** @description All that it finds. Exactly one of `decision_ids` and `filter`. */
            filter?: components["schemas"]["DecisionBulkFilter"] | null;
        };
        AuditActorResponse: {
            /**
             * Format: uuid
             * @description The user who acted.
             */
            id: string;
            /**
             * @description Their address today; null when the user is gone.
             * @example ada@example.com
             */
            email: string | null;
        };
        AuditItem: {
            /**
             * Format: uuid
             * @description The entry.
             */
            id: string;
            /** @description `admin`: an operator acted through the admin surface; `business`: it happened inside the organization. */
            source: components["schemas"]["AuditSource"];
            /**
             * @description What was done, as `<thing>.<verb>`.
             * @example organization.suspended
             */
            action: string;
            /**
             * Format: uuid
             * @description The organization it concerns; null when none.
             */
            org_id: string | null;
            /** @description Who did it; null when the system did. */
            actor: components["schemas"]["AuditActorResponse"] | null;
            /** @description What it was done to. */
            target: components["schemas"]["AuditTargetResponse"];
            /**
             * @description Facts that a reader needs. Never secrets.
             * @example {
             *       "role": "ADMIN"
             *     }
             */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
        };
        /**
         * @description `business`: a member acted; `admin`: an operator of the platform did, who stays nameless.
         * @enum {string}
         */
        AuditSource: "admin" | "business";
        AuditTargetResponse: {
            /**
             * @description Kind of the thing.
             * @example organization
             */
            kind: string;
            /** @description Its id. */
            id: string | null;
        };
        AuthResponse: {
            /** @description Who signed in. */
            user: components["schemas"]["UserInfo"];
            /** @description The session. */
            session: components["schemas"]["SessionInfo"];
            /** @description Where the user is a member. */
            memberships: components["schemas"]["MembershipInfo"][];
        };
        /**
         * @description What the organization pays in.
         * @enum {string}
         */
        BillingUnit: "usd" | "credits";
        BlockerEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description The turn has ended for something that can be lifted. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "blocker";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["TurnBlocker"];
        };
        ChangePasswordRequest: {
            /**
             * Format: password
             * @description The password that is to be replaced.
             * @example correct horse battery staple
             */
            current_password: string;
            /**
             * Format: password
             * @description The new password.
             * @example staple battery horse correct
             */
            new_password: string;
            /**
             * @description Revoke all API tokens, too.
             * @default false
             */
            revoke_tokens?: boolean;
        };
        ChangeTogglesRequest: {
            /** @description Scopes to switch; the others stay as they are. Not together with `enabled_scopes`. */
            toggles?: components["schemas"]["ToggleChangeDto"][];
            /**
             * @description The scopes that are on; all others are off. Null: all are on, and those that come later too.
             * @example [
             *       "system:web"
             *     ]
             */
            enabled_scopes?: string[] | null;
        };
        ChatBlockedByDto: {
            /** @description `cap`: too many chats of the organization run. `lease`: the worker has gone silent, another one takes over. `credits`: used up, or the model has no price. */
            kind: components["schemas"]["ChatBlockedByKind"];
            /**
             * Format: date-time
             * @description Since when.
             */
            since: string | null;
            /** @description What of that kind: the request, the child chat, the time at which the timer ends, the worker, the organization, the agent, or a code. */
            ref: string | null;
        };
        /**
         * @description `cap`: too many chats of the organization run. `lease`: the worker has gone silent, another one takes over. `credits`: used up, or the model has no price.
         * @enum {string}
         */
        ChatBlockedByKind: "human" | "child" | "timer" | "cap" | "credits" | "budget" | "route" | "lease" | "org_suspended" | "agent_deleted";
        ChatCostBreakdownResponse: {
            /**
             * Format: decimal
             * @description As the chat shows it. Null where the organization pays in credits.
             */
            total_cost_usd: string | null;
            /**
             * Format: decimal
             * @description Credits, as the chat shows them.
             */
            total_credits: string;
            /** @description By kind of token, at the prices of the time of each call. With `rounding`, the parts sum to the total. */
            by_token_type: components["schemas"]["TokenTypeCosts"];
            /** @description By model, the dearest first. */
            by_model: components["schemas"]["ChatModelCost"][];
            /**
             * Format: decimal
             * @description What the parts of `by_token_type` lack of the total, in the `billing_unit`; may be negative.
             * @example 0.000001
             */
            rounding: string;
            /**
             * Format: uuid
             * @description The chat.
             */
            chat_id: string;
            /** @description What the organization pays in. */
            billing_unit: components["schemas"]["BillingUnit"];
            /** @description The same of all chats below this one; not part of its totals. */
            descendants: components["schemas"]["DescendantCosts"];
        };
        ChatDiagnosisResponse: {
            /** @description What the chat is. */
            state: components["schemas"]["ChatStatus"];
            /** @description What keeps it from going on; null when nothing does, or there is nothing to do. */
            blocked_by: components["schemas"]["ChatBlockedByDto"] | null;
            /** @description Who runs its turn. */
            lease: components["schemas"]["ChatLeaseDto"] | null;
            /** @description Where a turn that has not begun stands. */
            queue: components["schemas"]["ChatQueueDto"] | null;
            /** @description The newest turn that ran and is over; null where none has been. */
            last_turn: components["schemas"]["ChatLastTurnDto"] | null;
            /** @description What would have it go on: one of `allowed_actions`, or what lifts `blocked_by`. Null where nothing will, as in a closed chat without a message. */
            next_action: components["schemas"]["ChatNextAction"] | null;
            /** @description What the caller can do with it now that has an effect. */
            allowed_actions: ("message" | "stop" | "terminate" | "continue" | "retry" | "archive" | "rename" | "share" | "delete")[];
        };
        ChatErrorDto: {
            /**
             * @description Stable, for programs.
             * @example provider_unavailable
             */
            code: string;
            /** @description One sentence for a human. */
            message: string;
            /** @description Whether `continue` may help. */
            retryable: boolean;
        };
        ChatLastTurnDto: {
            /**
             * Format: uuid
             * @description The turn.
             */
            turn_id: string;
            /** @description Why its last answer ended; null where the turn failed or was stopped. */
            finish_reason: components["schemas"]["FinishReason"] | null;
            /** @description Why it failed. */
            error: components["schemas"]["ChatErrorDto"] | null;
        };
        ChatLeaseDto: {
            /** @description The process that runs the turn; null when it has handed it back. */
            worker: string | null;
            /**
             * Format: date-time
             * @description When another one may take over. Renewed every few seconds.
             */
            expires_at: string;
            /** @description Every owner has its own; what is written with an older one is refused. */
            fence: string;
        };
        ChatListResponse: {
            /** @description The rows of this page. */
            items: components["schemas"]["ChatSummary"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        ChatMessageDto: {
            /**
             * Format: uuid
             * @description The message.
             */
            id: string;
            /** @description Order within the chat. */
            seq: number;
            /** @description Who speaks. */
            role: components["schemas"]["MessageRole"];
            /** @description The text. */
            content: string;
            /** @description Files of the message. */
            attachments: components["schemas"]["FileReferenceDto"][];
            /** @description Of assistant messages: what the model asked for. */
            tool_calls: components["schemas"]["ChatToolCallDto"][];
            /** @description Of tool messages: the call that it answers. */
            tool_call_id: string | null;
            /** @description Of tool messages: the tool. */
            tool_name: string | null;
            /** @description Key of the model that wrote it. */
            model: string | null;
            /**
             * Format: date-time
             * @description When it was stored.
             */
            created_at: string;
            /** @description Tokens and dollars of the call that wrote it; null where they never became known. */
            usage: components["schemas"]["ChatMessageUsage"] | null;
            /** @description Of assistant messages: why the model ended. `length`: the answer had reached its length; a call that it ended in is not run. `tool_calls`: it called tools. `step_limit`: it did, and its turn was allowed no further step. `empty`: asked twice, it said nothing. Null for other roles, and for what was interrupted. */
            finish_reason: components["schemas"]["FinishReason"] | null;
            /** @description The turn was stopped before the answer was whole: this is what had been said. */
            interrupted: boolean;
        };
        ChatMessageUsage: {
            /** @description Tokens read. */
            input: number;
            /** @description Read from a cache. */
            cached_input: number;
            /** @description Written to a cache. */
            cache_write: number;
            /** @description Tokens written. */
            output: number;
            /** @description Reasoning. */
            reasoning: number;
            /**
             * @description Key of the model that answered.
             * @example mock
             */
            model: string;
            /** @description Key of the model that was asked for; null where nobody named one. */
            requested_model: string | null;
            /**
             * @description Why it was this model.
             * @example agent
             */
            reason: string;
            /** @description The effort that it was asked for. */
            reasoning_effort: string | null;
            /**
             * Format: decimal
             * @description Dollars; null where the organization pays in credits, and where the model had no price.
             */
            cost_usd: string | null;
        };
        ChatModelCost: {
            /**
             * @description Key of the model that answered.
             * @example mock
             */
            model_key: string;
            /** @description Calls of it, whatever they were for. */
            calls: number;
            /** @description Of these, calls that had no price: their cost is not known, and not in any sum. */
            unpriced_calls: number;
            /** @description Its tokens. */
            tokens: components["schemas"]["TokenCounts"];
            /**
             * Format: decimal
             * @description Null where the organization pays in credits.
             */
            cost_usd: string | null;
            /**
             * Format: decimal
             * @description Credits.
             */
            credits: string;
        };
        /**
         * @description What would have it go on: one of `allowed_actions`, or what lifts `blocked_by`. Null where nothing will, as in a closed chat without a message.
         * @enum {string}
         */
        ChatNextAction: "answer" | "wait" | "continue" | "retry" | "message" | "add_credits" | "raise_budget" | "fix_route" | "unsuspend";
        ChatOriginDto: {
            /** @description Who or what began the chat. */
            kind: components["schemas"]["ChatOriginKind"];
            /** @description What of that kind; null for users. */
            ref_id: string | null;
        };
        /**
         * @description Who or what began the chat.
         * @enum {string}
         */
        ChatOriginKind: "user" | "inbox" | "process" | "agent" | "api" | "schedule";
        ChatPauseDto: {
            /** @description What it waits for: a human, its child chats, a time, or room to run. */
            kind: components["schemas"]["PauseKind"];
            /**
             * Format: date-time
             * @description Since when.
             */
            since: string;
            /**
             * Format: uuid
             * @description The request that a human has to answer.
             */
            request_id?: string;
            /**
             * Format: date-time
             * @description When a timer ends.
             */
            resume_at?: string;
            /** @description The chats that it waits for. */
            child_chat_ids?: string[];
            /** @description How many turns of the organization wait for room before it. Lists leave it out. */
            queue_position?: number;
        };
        ChatPresenceResponse: {
            /** @description Who else has the chat open, by name. The caller is none of them. */
            viewers: components["schemas"]["ChatViewer"][];
            /**
             * @description How often to call, seconds.
             * @example 15
             */
            heartbeat_interval_s: number;
            /**
             * @description After so many seconds without a call a viewer is gone.
             * @example 45
             */
            expires_in_s: number;
        };
        ChatQueueDto: {
            /** @description Turns of the organization that were dispatched before and have not begun. */
            position: number;
            /** @description How long the oldest of them has waited, in seconds. */
            oldest_ahead_s: number;
        };
        ChatResponse: {
            /**
             * Format: uuid
             * @description The chat.
             */
            id: string;
            /**
             * Format: uuid
             * @description The agent.
             */
            agent_id: string;
            /**
             * Format: uuid
             * @description The agent revision that the chat was frozen with.
             */
            agent_revision_id: string;
            /**
             * Format: uuid
             * @description The rollout that chose the revision.
             */
            rollout_id: string | null;
            /** @description The arm of it, where it was an experiment. */
            arm_label: string | null;
            /** @description What the chat is about; null until it has a name. */
            title: string | null;
            /** @description `RUNNING` while a turn runs, `PAUSED` while a human is waited for. */
            status: components["schemas"]["ChatStatus"];
            /** @description What the chat waits for. */
            pause: components["schemas"]["ChatPauseDto"] | null;
            /** @description Why it stopped by itself or was archived. */
            stop_reason: string | null;
            /** @description Why the last turn failed; null unless the chat is `ERRORED`. */
            error: components["schemas"]["ChatErrorDto"] | null;
            /**
             * Format: date-time
             * @description When somebody asked it to stop.
             */
            stop_requested_at: string | null;
            /**
             * Format: date-time
             * @description When it was terminated.
             */
            completed_at: string | null;
            /** @description Whether it is archived. */
            archived: boolean;
            /**
             * Format: date-time
             * @description Since when.
             */
            archived_at: string | null;
            /** @description Open to every member of the organization. */
            shared: boolean;
            /**
             * Format: uuid
             * @description The user who began it; null when no human did.
             */
            created_by: string | null;
            /**
             * Format: uuid
             * @description Where it runs commands.
             */
            environment_id: string | null;
            /** @description Whether it may run commands; null: as the agent. */
            sandbox_enabled: boolean | null;
            /** @description The mode of this chat; null: the agent’s. */
            model_mode_override: components["schemas"]["ModelMode"] | null;
            /**
             * Format: uuid
             * @description The chat that delegated to it.
             */
            parent_chat_id: string | null;
            /**
             * Format: uuid
             * @description The first chat of that line.
             */
            root_chat_id: string | null;
            /**
             * Format: uuid
             * @description The chat that it is a retry of.
             */
            source_chat_id: string | null;
            /** @description What began the chat. */
            origin: components["schemas"]["ChatOriginDto"];
            /**
             * Format: decimal
             * @description Null where the organization pays in credits.
             */
            cost_usd: string | null;
            /**
             * Format: decimal
             * @description Credits that it has cost.
             */
            cost_credits: string;
            /**
             * Format: date-time
             * @description When the newest message was stored.
             */
            last_message_at: string | null;
            /** @description Messages in it. */
            message_count: number;
            /** @description Requests that wait for a human. */
            pending_hitl_count: number;
            /**
             * Format: date-time
             * @description When it was opened.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it changed last.
             */
            updated_at: string;
            /** @description Every message, oldest first. */
            messages: components["schemas"]["ChatMessageDto"][];
        };
        ChatSnapshot: {
            /** @description The chat now. */
            chat: components["schemas"]["ChatSummary"];
            /**
             * @description The newest event that is part of it.
             * @example 41
             */
            last_id: string;
        };
        /**
         * @description `RUNNING` while a turn runs, `PAUSED` while a human is waited for.
         * @enum {string}
         */
        ChatStatus: "ACTIVE" | "RUNNING" | "PAUSED" | "ERRORED" | "ARCHIVED" | "ABANDONED";
        ChatStreamEvent: components["schemas"]["SnapshotEvent"] | components["schemas"]["StatusChangedEvent"] | components["schemas"]["MessageCreatedEvent"] | components["schemas"]["MessageCompletedEvent"] | components["schemas"]["MessageRestartedEvent"] | components["schemas"]["ToolCallEvent"] | components["schemas"]["ToolResultEvent"] | components["schemas"]["HitlRequestedEvent"] | components["schemas"]["HitlResolvedEvent"] | components["schemas"]["DecisionRecordedEvent"] | components["schemas"]["DelegationStartedEvent"] | components["schemas"]["DelegationFinishedEvent"] | components["schemas"]["TodoUpdatedEvent"] | components["schemas"]["MemoryWrittenEvent"] | components["schemas"]["CompactionEvent"] | components["schemas"]["BlockerEvent"] | components["schemas"]["ErrorEvent"] | components["schemas"]["TitleChangedEvent"] | components["schemas"]["MessageDeltaEvent"] | components["schemas"]["PresenceChangedEvent"] | components["schemas"]["PingEvent"] | components["schemas"]["OrgSuspendedEvent"];
        ChatSummary: {
            /**
             * Format: uuid
             * @description The chat.
             */
            id: string;
            /**
             * Format: uuid
             * @description The agent.
             */
            agent_id: string;
            /**
             * Format: uuid
             * @description The agent revision that the chat was frozen with.
             */
            agent_revision_id: string;
            /**
             * Format: uuid
             * @description The rollout that chose the revision.
             */
            rollout_id: string | null;
            /** @description The arm of it, where it was an experiment. */
            arm_label: string | null;
            /** @description What the chat is about; null until it has a name. */
            title: string | null;
            /** @description `RUNNING` while a turn runs, `PAUSED` while a human is waited for. */
            status: components["schemas"]["ChatStatus"];
            /** @description What the chat waits for. */
            pause: components["schemas"]["ChatPauseDto"] | null;
            /** @description Why it stopped by itself or was archived. */
            stop_reason: string | null;
            /** @description Why the last turn failed; null unless the chat is `ERRORED`. */
            error: components["schemas"]["ChatErrorDto"] | null;
            /**
             * Format: date-time
             * @description When somebody asked it to stop.
             */
            stop_requested_at: string | null;
            /**
             * Format: date-time
             * @description When it was terminated.
             */
            completed_at: string | null;
            /** @description Whether it is archived. */
            archived: boolean;
            /**
             * Format: date-time
             * @description Since when.
             */
            archived_at: string | null;
            /** @description Open to every member of the organization. */
            shared: boolean;
            /**
             * Format: uuid
             * @description The user who began it; null when no human did.
             */
            created_by: string | null;
            /**
             * Format: uuid
             * @description Where it runs commands.
             */
            environment_id: string | null;
            /** @description Whether it may run commands; null: as the agent. */
            sandbox_enabled: boolean | null;
            /** @description The mode of this chat; null: the agent’s. */
            model_mode_override: components["schemas"]["ModelMode"] | null;
            /**
             * Format: uuid
             * @description The chat that delegated to it.
             */
            parent_chat_id: string | null;
            /**
             * Format: uuid
             * @description The first chat of that line.
             */
            root_chat_id: string | null;
            /**
             * Format: uuid
             * @description The chat that it is a retry of.
             */
            source_chat_id: string | null;
            /** @description What began the chat. */
            origin: components["schemas"]["ChatOriginDto"];
            /**
             * Format: decimal
             * @description Null where the organization pays in credits.
             */
            cost_usd: string | null;
            /**
             * Format: decimal
             * @description Credits that it has cost.
             */
            cost_credits: string;
            /**
             * Format: date-time
             * @description When the newest message was stored.
             */
            last_message_at: string | null;
            /** @description Messages in it. */
            message_count: number;
            /** @description Requests that wait for a human. */
            pending_hitl_count: number;
            /**
             * Format: date-time
             * @description When it was opened.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it changed last.
             */
            updated_at: string;
        };
        ChatTodo: {
            /**
             * Format: uuid
             * @description The item.
             */
            id: string;
            /** @description Its place on the list. */
            position: number;
            /** @description What is to be done. */
            title: string;
            /** @description How far it is. */
            status: components["schemas"]["TodoStatus"];
            /**
             * Format: date-time
             * @description When it was noted.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it changed last.
             */
            updated_at: string;
        };
        ChatToolCallDto: {
            /** @description The call; its answer is the tool message that names it. */
            id: string;
            /** @description The tool. */
            name: string;
            /** @description JSON text, as the model wrote it. */
            arguments: string;
        };
        ChatViewer: {
            /**
             * Format: uuid
             * @description The user.
             */
            user_id: string;
            /** @description What they are called. */
            name: string;
            /** @description Their picture. */
            avatar_url: string | null;
            /**
             * Format: date-time
             * @description When they last said that they are there.
             */
            last_seen_at: string;
        };
        CompactionDone: {
            /**
             * Format: uuid
             * @description The summary.
             */
            compaction_id: string;
            /**
             * Format: uuid
             * @description The turn that it belongs to.
             */
            turn_id: string;
            /** @description The newest message that the summary stands for. */
            through_seq: number;
            /** @description How many messages it stands for. */
            messages: number;
            /** @description Tokens that the model read before. */
            tokens_before: number;
            /** @description Tokens that it reads now. */
            tokens_after: number;
        };
        CompactionEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description A summary stands for the oldest messages in what the model reads; the messages stay. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "compaction";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["CompactionDone"];
        };
        CompletedMessage: {
            /** @description The message, as the chat shows it; it takes the place of its deltas. */
            message: components["schemas"]["ChatMessageDto"];
            /**
             * Format: uuid
             * @description The turn that it belongs to.
             */
            turn_id: string;
            /** @description The step of the turn that wrote it. */
            step_no: number;
            /** @description The turn ends with it. */
            final: boolean;
            /** @description Why the model stopped. */
            finish_reason?: components["schemas"]["FinishReason"] | null;
            /** @description How long the call took, in milliseconds. */
            duration_ms?: number;
            /** @description The turn was stopped before the answer was whole. */
            interrupted?: boolean;
        };
        ConversationTimelineResponse: {
            /** @description The rows of this page. */
            items: components["schemas"]["TimelineEvent"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        /**
         * @description Roughly how expensive it is.
         * @enum {string}
         */
        CostTier: "free" | "low" | "medium" | "high" | "premium";
        CreateAgentRequest: {
            /**
             * @description Unique among the live agents of the organization. Default: made from the name.
             * @example support-agent
             */
            slug?: string | null;
            /**
             * @description What the agent is for.
             * @example Answers support questions from the handbook.
             */
            description?: string | null;
            /**
             * @description Clients draw the agent’s picture from it.
             * @example teal-fox
             */
            avatar_seed?: string | null;
            /**
             * Format: uuid
             * @description The team it belongs to.
             */
            team_id?: string | null;
            /**
             * Format: uuid
             * @description The project it belongs to.
             */
            project_id?: string | null;
            /**
             * @description The instruction. Setting it publishes a new version of it.
             * @example You answer politely and briefly.
             */
            instruction?: string | null;
            /**
             * @description Key of a catalog model; needs `direct_model_choice`. Null: the default.
             * @example mock
             */
            model?: string | null;
            /**
             * @description Instead of a model, where the plan does not include `direct_model_choice`.
             * @example normal
             * @enum {string|null}
             */
            model_mode?: "trivial" | "normal" | "high_effort" | "x_high" | null;
            /**
             * @description Needs `direct_model_choice`. Null: the default.
             * @example medium
             * @enum {string|null}
             */
            reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | null;
            /**
             * @description Tool scopes: `core`, `system:web`, `system:exec`, `kb:{slug}`, `con:{slug}`, `agent:{slug}`, `process:{slug}`, an exact tool `con_slug.tool_name`, or `*` for all. What the agent may use.
             * @example [
             *       "core",
             *       "system:web"
             *     ]
             */
            allowed_tools?: string[];
            /**
             * @description Tool scopes: `core`, `system:web`, `system:exec`, `kb:{slug}`, `con:{slug}`, `agent:{slug}`, `process:{slug}`, an exact tool `con_slug.tool_name`, or `*` for all. What it may not use, whatever its team or project grants.
             * @example [
             *       "core",
             *       "system:web"
             *     ]
             */
            denied_tools?: string[];
            /**
             * @description Slugs of skills.
             * @example [
             *       "clear-writing"
             *     ]
             */
            mounted_skills?: string[];
            /** @description Knowledge bases that it reads. */
            knowledge_base_ids?: string[];
            /**
             * Format: uuid
             * @description Where its commands run. Null: the built-in sandbox.
             */
            environment_id?: string | null;
            /** @description Agents that it may delegate to. */
            child_agent_ids?: string[];
            /**
             * @description Model calls that one turn may take. Default 50.
             * @example 50
             */
            max_steps?: number;
            /**
             * @description How deep delegation may go. Default 5.
             * @example 5
             */
            max_child_depth?: number;
            /**
             * @description Credits it may spend in a billing period; needs `per_agent_budgets`. Null: no limit of its own.
             * @example 500
             */
            budget_credits_per_period?: number | string | null;
            /**
             * @description Whether it may write memories. Default false.
             * @example false
             */
            memory_enabled?: boolean;
            /**
             * @description Yours to use; at most 16 KiB of JSON. Every key is kept; a number that a double cannot keep is refused, with `number_unsafe`.
             * @example {
             *       "cost_centre": "4711"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description What people call it.
             * @example Support agent
             */
            name: string;
        };
        CreateChatRequest: {
            /**
             * @description Without one, the chat names itself after its first answer.
             * @example Invoices of March
             */
            title?: string | null;
            /**
             * Format: uuid
             * @description Environment that the chat runs commands in.
             */
            environment_id?: string | null;
            /** @description Whether the chat may run commands. Null: as the agent. */
            sandbox_enabled?: boolean | null;
            /** @description Refused where the organization chooses models directly. Null inherits the agent’s. */
            model_mode_override?: components["schemas"]["ModelMode"] | null;
        };
        CreateMemoryRequest: {
            /**
             * @description What to remember; at most 8 KiB.
             * @example The customer writes in German and wants answers in German.
             */
            content: string;
        };
        CreateOrganizationRequest: {
            /**
             * @description What people call it.
             * @example Acme
             */
            name: string;
            /**
             * @description Name for addresses, free among all live organizations. Made from the name when omitted.
             * @example acme
             */
            slug?: string;
        };
        CreateSkillRequest: {
            /**
             * @description What people call it.
             * @example Refunds
             */
            name: string;
            /**
             * @description What it does and when to use it; by this the agent decides whether to read on.
             * @example Use when a customer asks for money back.
             */
            description: string;
            /**
             * @description Markdown.
             * @example # Refunds
             *
             *     1. Find the order.
             */
            content: string;
            /** @description Files that belong to it. */
            files?: components["schemas"]["SkillFile"][];
            /**
             * @description Default: made from the name.
             * @example refunds
             */
            slug?: string | null;
        };
        CreateTicketRequest: {
            /**
             * @description What the stream may be about: all of these, or some.
             * @example [
             *       "chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11"
             *     ]
             */
            topics: string[];
            /**
             * Format: uuid
             * @description The organization; required with the topic `org`, because the others name theirs.
             */
            org_id?: string | null;
        };
        CreateTokenRequest: {
            /**
             * @description What the token is for.
             * @example Nightly export
             */
            name: string;
            /**
             * @description More about it.
             * @example Runs on the reporting server.
             */
            description?: string | null;
            /**
             * @description What the token may do: `*`, or `<area>:read` and `<area>:write` separated by spaces. `write` includes `read`. Never more than its user may.
             * @default *
             * @example agents:read chats:write
             */
            scope?: string;
            /**
             * @description Days until it expires. Omitted: never.
             * @example 90
             */
            expires_in_days?: number | null;
            /**
             * Format: uuid
             * @description The only organization that the token is good for. Omitted: all of its user.
             */
            org_id?: string | null;
        };
        CreateTokenResponse: {
            /** @description The token as it is listed. */
            token_info: components["schemas"]["TokenInfo"];
            /**
             * @description The token itself. Shown this once; null in a repeat by `Idempotency-Key`.
             * @example apt_3kTzV0fQn8wLr5Xb2YcHs7MdJg4PaEu1_0K0mQx
             */
            token: string | null;
        };
        /**
         * @description Where the credential comes from; null inherits.
         * @enum {string}
         */
        CredentialSource: "api_key" | "gateway";
        DecisionBulkFilter: {
            /** @description Only decisions of this kind. */
            kind?: components["schemas"]["DecisionKind"] | null;
            /** @description Only decisions that stand so. */
            review_status?: components["schemas"]["DecisionReviewStatus"] | null;
            /** @description Only those that depart from their rule, or only those that do not. */
            deviation?: boolean | null;
            /** @description Only those that the agent had to determine itself. `false` is no filter. */
            determination?: boolean | null;
            /** @description The archive, or the live queue. */
            archived?: boolean | null;
        };
        DecisionBulkUpdateResponse: {
            /**
             * @description Decisions that this call has changed.
             * @example 12
             */
            updated: number;
            /**
             * @description Decisions that were selected and that the caller may see.
             * @example 14
             */
            matched: number;
            /**
             * @description Of those, the ones that were already so, or that this action does not touch.
             * @example 2
             */
            unchanged: number;
        };
        DecisionGroupItem: {
            /**
             * @description The rule that they cite.
             * @example Refunds up to 100 USD need no approval.
             */
            basis: string;
            /**
             * @description How many there are.
             * @example 12
             */
            count: number;
            /**
             * @description Of those, how many nobody has reviewed.
             * @example 4
             */
            unreviewed: number;
            /**
             * @description Of those, how many are disputed.
             * @example 1
             */
            disputed: number;
            /**
             * Format: date-time
             * @description When the newest was made.
             * @example 2026-11-20T09:30:00.000Z
             */
            latest_at: string;
            /** @description The newest of them. */
            sample_decision_ids: string[];
        };
        /**
         * @description Whether the agent acts, leaves it, or asks a human.
         * @enum {string}
         */
        DecisionKind: "act" | "no_act" | "escalate";
        DecisionListResponse: {
            /** @description The rows of this page. */
            items: components["schemas"]["DecisionResponse"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        DecisionRecorded: {
            /**
             * Format: uuid
             * @description The decision.
             */
            decision_id: string;
            /** @description Whether the agent acts, leaves it, or asks a human. */
            kind: components["schemas"]["DecisionKind"];
            /** @description What it decided. */
            summary: string;
            /** @description The rule that it rests on. */
            basis: string;
            /** @description The tool that it is about. */
            tool_slug: string | null;
            /** @description It departs from the rule. */
            deviation: boolean;
            /** @description No rule says it. */
            determination: boolean;
            /**
             * Format: uuid
             * @description The turn that it belongs to.
             */
            turn_id: string;
            /** @description The call of the model. */
            tool_call_id: string;
        };
        DecisionRecordedEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description The agent has decided something. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "decision_recorded";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["DecisionRecorded"];
        };
        DecisionResponse: {
            /**
             * Format: uuid
             * @description The decision.
             */
            id: string;
            /**
             * Format: uuid
             * @description The chat that it was made in.
             */
            chat_id: string;
            /**
             * Format: uuid
             * @description The agent that made it.
             */
            agent_id: string;
            /**
             * Format: uuid
             * @description The agent revision that the chat runs on.
             */
            agent_revision_id: string;
            /**
             * Format: uuid
             * @description The turn that it was made in.
             */
            turn_id: string;
            /** @description The call that recorded it. */
            tool_call_id: string;
            /**
             * @description The tool that it is about.
             * @example con_shop.refund
             */
            tool_slug: string | null;
            /** @description The connection of that tool. */
            connection_id: string | null;
            /** @description SHA-256 over the canonical JSON (RFC 8785) of the arguments that it is about, hex. */
            arguments_digest: string | null;
            /** @description `act`: it was done. `no_act`: it was left. `escalate`: a human has to decide. */
            kind: components["schemas"]["DecisionKind"];
            /**
             * @description What was decided, in the agent’s words.
             * @example Refund 20 USD.
             */
            summary: string;
            /**
             * @description The rule that it cites.
             * @example Refunds up to 100 USD need no approval.
             */
            basis: string;
            /** @description Why the rule leads there. */
            rationale: string | null;
            /** @description It departs from what the rule says. */
            deviation: boolean;
            /** @description No rule says it; the agent had to determine it itself. */
            determination: boolean;
            /**
             * Format: decimal
             * @description How sure the agent was, from 0 to 1.
             * @example 0.9
             */
            confidence: string | null;
            /** @description What a human thought of it. */
            review_status: components["schemas"]["DecisionReviewStatus"];
            /** @description What the reviewer noted. */
            review_note: string | null;
            /** @description What it should have been, as a dispute said. */
            should_have: string | null;
            /**
             * Format: uuid
             * @description Who reviewed it last.
             */
            reviewed_by: string | null;
            /**
             * Format: date-time
             * @description When it was reviewed last.
             * @example 2026-11-20T09:30:00.000Z
             */
            reviewed_at: string | null;
            /** @description Whether it was put away. */
            archived: boolean;
            /**
             * Format: date-time
             * @description When it was put away.
             * @example 2026-11-20T09:30:00.000Z
             */
            archived_at: string | null;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
        };
        DecisionReviewFilter: {
            /** @description Only decisions of this kind. */
            kind?: components["schemas"]["DecisionKind"] | null;
            /**
             * @description Others are not touched.
             * @enum {string|null}
             */
            review_status?: "unreviewed" | null;
            /** @description Only those that depart from their rule, or only those that do not. */
            deviation?: boolean | null;
            /** @description Only those that the agent had to determine itself. `false` is no filter. */
            determination?: boolean | null;
            /** @description Archived ones are found, and not touched. */
            archived?: boolean | null;
        };
        /** @enum {string} */
        DecisionReviewStatus: "unreviewed" | "agreed" | "disputed" | "reverted";
        /**
         * @description How it ended.
         * @enum {string}
         */
        DelegationEnd: "done" | "failed" | "stopped" | "cancelled" | "archived" | "abandoned" | "deleted";
        DelegationFinished: {
            /**
             * Format: uuid
             * @description The chat that did the work.
             */
            child_chat_id: string;
            /**
             * Format: uuid
             * @description The agent that did it.
             */
            agent_id: string;
            /** @description Its slug. */
            agent: string;
            /** @description How it ended. */
            status: components["schemas"]["DelegationEnd"];
            /** @description The call of the model. */
            tool_call_id: string;
            /**
             * Format: uuid
             * @description The turn that it belongs to.
             */
            turn_id: string;
            /** @description The turn waited for it; else a note tells the next one. */
            waited: boolean;
        };
        DelegationFinishedEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description That work is over. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "delegation_finished";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["DelegationFinished"];
        };
        DelegationStarted: {
            /**
             * Format: uuid
             * @description The chat that does the work.
             */
            child_chat_id: string;
            /**
             * Format: uuid
             * @description The agent that does it.
             */
            agent_id: string;
            /** @description Its slug. */
            agent: string;
            /** @description Its name. */
            name: string;
            /** @description The call of the model. */
            tool_call_id: string;
            /**
             * Format: uuid
             * @description The turn that it belongs to.
             */
            turn_id: string;
            /** @description The turn waits for the result. */
            waits: boolean;
            /**
             * Format: date-time
             * @description How long it waits.
             */
            deadline_at: string | null;
        };
        DelegationStartedEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description The agent has another one work for it. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "delegation_started";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["DelegationStarted"];
        };
        DescendantCosts: {
            /**
             * Format: decimal
             * @description As the chat shows it. Null where the organization pays in credits.
             */
            total_cost_usd: string | null;
            /**
             * Format: decimal
             * @description Credits, as the chat shows them.
             */
            total_credits: string;
            /** @description By kind of token, at the prices of the time of each call. With `rounding`, the parts sum to the total. */
            by_token_type: components["schemas"]["TokenTypeCosts"];
            /** @description By model, the dearest first. */
            by_model: components["schemas"]["ChatModelCost"][];
            /**
             * Format: decimal
             * @description What the parts of `by_token_type` lack of the total, in the `billing_unit`; may be negative.
             * @example 0.000001
             */
            rounding: string;
            /** @description Chats that this one delegated to, at any depth. */
            chats: number;
        };
        /**
         * @description The dialect spoken there: 1 Chat Completions, 2 Messages, 3 generateContent.
         * @enum {string}
         */
        Dialect: "dialect_1" | "dialect_2" | "dialect_3";
        /** @description The body of every error but 422. */
        Error: {
            /** @description One sentence for a human. */
            detail: string;
            /**
             * @description Stable, for programs.
             * @enum {string}
             */
            code: "agent_deleted" | "agent_in_use" | "already_admin" | "already_allowed" | "already_member" | "already_resolved" | "bad_request" | "budget_exceeded" | "conflict" | "creator_only" | "credits_exhausted" | "dispatch_failed" | "email_taken" | "entitlement_exceeded" | "entitlement_required" | "idempotency_in_progress" | "idempotency_key_invalid" | "insufficient_role" | "insufficient_scope" | "internal_error" | "invalid_credentials" | "invitation_email_mismatch" | "invitation_gone" | "invitation_pending" | "last_admin" | "last_owner" | "method_not_allowed" | "model_conflict" | "model_in_use" | "never_admitted" | "no_draft" | "not_authenticated" | "not_found" | "not_org_member" | "not_pending" | "org_suspended" | "payload_too_large" | "platform_admin_required" | "queue_full" | "range_not_satisfiable" | "rate_limited" | "read_only" | "registration_not_allowed" | "route_in_use" | "service_unavailable" | "skill_in_use" | "slug_taken" | "too_many_attempts" | "unsupported_media_type" | "upstream_timeout" | "upstream_unavailable" | "user_deactivated" | "user_not_found" | "version_conflict";
            /** @description The `X-Request-Id` of the answer, by which operators find it in their logs. */
            request_id: string;
            /** @description Facts that let a program act on the error. */
            context?: {
                [key: string]: unknown;
            };
        };
        ErrorEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description The turn has failed. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "error";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["TurnError"];
        };
        FileReferenceDto: {
            /**
             * Format: uuid
             * @description The file.
             */
            file_id: string;
            /**
             * @description Its name.
             * @example invoice.pdf
             */
            filename: string;
            /**
             * @description What it is, told from its bytes.
             * @example application/pdf
             */
            media_type: string;
            /** @description Its length. */
            size_bytes: number;
        };
        /**
         * @description Of assistant messages: why the model ended. `length`: the answer had reached its length; a call that it ended in is not run. `tool_calls`: it called tools. `step_limit`: it did, and its turn was allowed no further step. `empty`: asked twice, it said nothing. Null for other roles, and for what was interrupted.
         * @enum {string}
         */
        FinishReason: "stop" | "length" | "tool_calls" | "content_filter" | "refusal" | "step_limit" | "empty";
        ForgotPasswordRequest: {
            /**
             * Format: email
             * @description The address to mail a link to.
             * @example ada@example.com
             */
            email: string;
        };
        /** @description The body of every 422. */
        HTTPValidationError: {
            /** @description Every problem of the request. */
            detail: components["schemas"]["ValidationError"][];
            /**
             * @description Stable, for programs.
             * @enum {string}
             */
            code: "allowlist_needs_default" | "base_url_needs_own_key" | "cannot_unarchive" | "exactly_one_required" | "follows_root" | "idempotency_mismatch" | "instruction_too_long" | "masked_secret" | "model_not_allowed" | "model_unknown" | "not_continuable" | "not_disputed" | "nothing_to_retry" | "number_unsafe" | "password_incorrect" | "plan_mismatch" | "replacement_cycle" | "reset_token_invalid" | "route_borrows_key" | "self_action" | "should_have_missing" | "unknown_reference" | "validation_error" | "verification_invalid";
            /** @description The `X-Request-Id` of the answer, by which operators find it in their logs. */
            request_id: string;
            /** @description Facts that let a program act on the error. */
            context?: {
                [key: string]: unknown;
            };
        };
        HitlAnswer: {
            /** @description Of an approval. */
            decision?: components["schemas"]["HitlDecision"];
            /** @description Of a question. */
            answer?: string;
            /** @description Of a question with options. */
            option_id?: string;
            /** @description Of a form. */
            values?: {
                [key: string]: unknown;
            };
            /** @description Of an approval that was edited. */
            edited_arguments?: {
                [key: string]: unknown;
            };
            /** @description What was said besides. */
            note?: string;
        };
        /**
         * @description Of an approval.
         * @enum {string}
         */
        HitlDecision: "approve" | "reject" | "edit";
        /**
         * @description What an answer looks like.
         * @enum {string}
         */
        HitlKind: "question" | "approval" | "form";
        HitlOption: {
            /** @description What an answer names. */
            id: string;
            /** @description What the human reads. */
            label: string;
        };
        HitlRequest: {
            /**
             * Format: uuid
             * @description The request.
             */
            id: string;
            /**
             * Format: uuid
             * @description The chat that waits; null for a process run.
             */
            chat_id: string | null;
            /**
             * Format: uuid
             * @description The process run that waits; null for a chat.
             */
            run_id: string | null;
            /**
             * Format: uuid
             * @description The agent that asks.
             */
            agent_id: string | null;
            /** @description Step of the turn, or of the process run. */
            step_id: string | null;
            /** @description What is asked for: an answer or an option, a yes or no, or values. */
            kind: components["schemas"]["HitlKind"];
            /** @description What the human reads. */
            prompt: string;
            /** @description Of a question: what can be chosen. */
            options: components["schemas"]["HitlOption"][];
            /** @description Of a form: JSON Schema of its values. */
            schema: {
                [key: string]: unknown;
            } | null;
            /** @description Of an approval: what runs when it is given. */
            tool_call: components["schemas"]["HitlToolCall"] | null;
            /** @description Only a pending one can be answered. */
            status: components["schemas"]["HitlStatus"];
            /**
             * Format: uuid
             * @description Who has to answer; null: anybody who sees it.
             */
            assignee_user_id: string | null;
            /**
             * Format: date-time
             * @description When it is given up, and its chat with it.
             */
            expires_at: string;
            /**
             * Format: uuid
             * @description Who answered.
             */
            answered_by: string | null;
            /**
             * Format: date-time
             * @description When it was answered.
             */
            answered_at: string | null;
            /** @description The answer; null until there is one. */
            answer: components["schemas"]["HitlAnswer"] | null;
            /**
             * Format: date-time
             * @description When it was asked.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it changed last.
             */
            updated_at: string;
        };
        HitlRequested: {
            /**
             * Format: uuid
             * @description The request.
             */
            request_id: string;
            /** @description What an answer looks like. */
            kind: components["schemas"]["HitlKind"];
            /** @description What the agent asks. */
            prompt: string;
            /** @description What to choose from. */
            options: components["schemas"]["HitlOption"][];
            /** @description Of a form: JSON Schema of its values. */
            schema: {
                [key: string]: unknown;
            } | null;
            /** @description Of an approval: what runs when it is given. */
            tool_call: components["schemas"]["HitlToolCall"] | null;
            /**
             * Format: uuid
             * @description Who is asked; null: any member.
             */
            assignee_user_id: string | null;
            /**
             * Format: date-time
             * @description When it is given up.
             */
            expires_at: string;
            /**
             * Format: uuid
             * @description The turn that it belongs to.
             */
            turn_id: string;
            /** @description The call of the model. */
            tool_call_id: string;
        };
        HitlRequestedEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description The agent asks a human. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "hitl_requested";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["HitlRequested"];
        };
        HitlResolved: {
            /**
             * Format: uuid
             * @description The request.
             */
            request_id: string;
            /** @description What it was. */
            kind: components["schemas"]["HitlKind"];
            /** @description How it ended. */
            status: components["schemas"]["HitlStatus"];
            /** @description Why nobody answered it. */
            reason: string | null;
            /** @description The answer. */
            answer: components["schemas"]["HitlAnswer"] | null;
            /**
             * Format: uuid
             * @description Who answered.
             */
            answered_by: string | null;
            /**
             * Format: uuid
             * @description The turn that it belongs to.
             */
            turn_id: string;
            /** @description The call of the model. */
            tool_call_id: string;
        };
        HitlResolvedEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description A request to humans is over. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "hitl_resolved";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["HitlResolved"];
        };
        /**
         * @description How it ended.
         * @enum {string}
         */
        HitlStatus: "pending" | "answered" | "cancelled" | "expired";
        HitlToolCall: {
            /** @description The call of the agent that waits. */
            id: string;
            /** @description The tool that runs when it is approved. */
            tool_slug: string;
            /** @description With exactly these arguments. */
            arguments: {
                [key: string]: unknown;
            };
            /** @description What the tool does. */
            access_level: components["schemas"]["ToolAccessLevel"];
        };
        InstructionResponse: {
            /**
             * Format: uuid
             * @description The agent.
             */
            agent_id: string;
            /** @description The published instruction; null when none ever was. */
            active: components["schemas"]["InstructionRevisionResponse"] | null;
            /** @description What is being written; null when nothing is. */
            draft: components["schemas"]["InstructionRevisionResponse"] | null;
            /**
             * @description Opaque; changes with every change of either. Send it with the next save.
             * @example v4
             */
            base_version: string;
        };
        InstructionRevisionResponse: {
            /**
             * Format: uuid
             * @description The revision.
             */
            id: string;
            /**
             * Format: uuid
             * @description The agent it belongs to.
             */
            agent_id: string;
            /**
             * @description Given when it is published; null for the draft.
             * @example 2
             */
            version: number | null;
            /** @description At most one is the draft, at most one is active. */
            state: components["schemas"]["InstructionState"];
            /**
             * @description The text.
             * @example You answer politely and briefly.
             */
            content: string;
            /**
             * Format: uuid
             * @description The revision that was active when it was begun.
             */
            base_revision_id: string | null;
            /**
             * Format: uuid
             * @description Who began it.
             */
            created_by: string | null;
            /**
             * Format: date-time
             * @description When it was published.
             * @example 2026-11-20T09:30:00.000Z
             */
            published_at: string | null;
            /**
             * Format: date-time
             * @description When it was begun.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             * @example 2026-11-20T09:30:00.000Z
             */
            updated_at: string;
        };
        /**
         * @description At most one is the draft, at most one is active.
         * @enum {string}
         */
        InstructionState: "draft" | "active" | "superseded";
        InvitationPreviewResponse: {
            /**
             * @description The organization that invites.
             * @example Acme
             */
            org_name: string;
            /**
             * Format: email
             * @description The address that is invited; only its account can accept.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description As what.
             * @example MEMBER
             */
            role: components["schemas"]["OrgRole"];
            /**
             * @description Always `pending`: a link whose invitation is over answers 410.
             * @example pending
             */
            state: components["schemas"]["InvitationState"];
            /**
             * Format: date-time
             * @description Until when the link is good.
             * @example 2026-12-04T09:30:00.000Z
             */
            expires_at: string;
        };
        InvitationResponse: {
            /**
             * @description Tells invitations from members in the answer to an invite. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "invitation";
            /**
             * Format: uuid
             * @description The invitation.
             * @example 0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a13
             */
            id: string;
            /**
             * Format: email
             * @description Who is invited.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description As what.
             * @example MEMBER
             */
            role: components["schemas"]["OrgRole"];
            /**
             * @description What became of it. One whose time is over stays pending until it is revoked.
             * @example pending
             */
            state: components["schemas"]["InvitationState"];
            /**
             * Format: uuid
             * @description The user who invited them.
             */
            invited_by: string | null;
            /**
             * Format: date-time
             * @description Until when the link is good.
             * @example 2026-12-04T09:30:00.000Z
             */
            expires_at: string;
            /**
             * Format: date-time
             * @description When it was taken up.
             */
            accepted_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked.
             */
            revoked_at: string | null;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-20T09:30:00.000Z
             */
            updated_at: string;
        };
        /**
         * @description What became of it. One whose time is over stays pending until it is revoked.
         * @enum {string}
         */
        InvitationState: "pending" | "accepted" | "revoked";
        InviteRequest: {
            /**
             * Format: email
             * @description Whom to invite. Who has an account becomes a member at once.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description As what. Only an owner can invite as ADMIN or OWNER.
             * @default MEMBER
             */
            role?: components["schemas"]["OrgRole"];
        };
        JoinWaitlistRequest: {
            /**
             * Format: email
             * @description The address that wants in.
             * @example grace@example.com
             */
            email: string;
            /**
             * @description Who asks.
             * @example Grace Hopper
             */
            name?: string | null;
            /**
             * @description What for.
             * @example We would like to automate our support inbox.
             */
            note?: string | null;
        };
        LoginRequest: {
            /**
             * Format: email
             * @description The address.
             * @example ada@example.com
             */
            email: string;
            /**
             * Format: password
             * @description The password.
             * @example correct horse battery staple
             */
            password: string;
        };
        MeResponse: {
            /** @description The caller. */
            user: components["schemas"]["UserInfo"];
            /**
             * @description Whether the caller operates the platform.
             * @example false
             */
            is_platform_admin: boolean;
            /** @description Where the caller is a member. With an API token pinned to an organization: that one. */
            memberships: components["schemas"]["MembershipInfo"][];
        };
        MemberListResponse: {
            /** @description The rows of this page. */
            items: components["schemas"]["MemberResponse"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        MemberResponse: {
            /**
             * @description Tells members from invitations in the answer to an invite. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "member";
            /**
             * Format: uuid
             * @description The membership; `member_id` in paths.
             * @example 0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            id: string;
            /**
             * Format: uuid
             * @description The user.
             * @example 0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a12
             */
            user_id: string;
            /**
             * Format: email
             * @description Their address.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description Their name.
             * @example Ada Lovelace
             */
            name: string;
            /** @description Where their picture is. */
            avatar_url: string | null;
            /**
             * @description What they are in the organization.
             * @example ADMIN
             */
            role: components["schemas"]["OrgRole"];
            /**
             * Format: date-time
             * @description When they became a member.
             * @example 2026-11-20T09:30:00.000Z
             */
            joined_at: string;
            /**
             * Format: date-time
             * @description When a session or API token of theirs was last used, to some minutes; null when never.
             */
            last_active_at: string | null;
            /**
             * Format: date-time
             * @description As `joined_at`.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When their role last changed.
             * @example 2026-11-20T09:30:00.000Z
             */
            updated_at: string;
        };
        MembershipInfo: {
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * @description Its name.
             * @example Analytical Engines
             */
            org_name: string;
            /**
             * @description Its slug.
             * @example analytical-engines
             */
            slug: string;
            /**
             * @description What the user is in it.
             * @example OWNER
             */
            role: components["schemas"]["OrgRole"];
        };
        /**
         * @description Who remembers.
         * @enum {string}
         */
        MemoryOwnerKind: "project" | "team" | "agent";
        MemoryOwnerResponse: {
            /** @description Who remembers. */
            kind: components["schemas"]["MemoryOwnerKind"];
            /**
             * Format: uuid
             * @description Its id.
             */
            id: string;
        };
        /**
         * @description Who wrote it.
         * @enum {string}
         */
        MemorySource: "human" | "agent";
        MemoryWritten: {
            /**
             * Format: uuid
             * @description The memory.
             */
            id: string;
            /**
             * @description What became of it.
             * @enum {string}
             */
            status: "remembered";
        };
        MemoryWrittenEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description The agent has remembered something. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "memory_written";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["MemoryWritten"];
        };
        MessageCompletedEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description The agent has written. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "message_completed";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["CompletedMessage"];
        };
        MessageCreatedEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description Somebody has written: a user, or the system what a delegated chat came to. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "message_created";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["NewMessage"];
        };
        MessageDeltaEvent: {
            /**
             * @description A piece of the running text. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "message_delta";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["MessagePiece"];
        };
        MessagePiece: {
            /**
             * Format: uuid
             * @description The message that is being written.
             */
            message_id: string;
            /** @description What comes next of it. */
            text: string;
        };
        MessageRestartedEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description The text so far is void. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "message_restarted";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["RestartedMessage"];
        };
        /**
         * @description Who speaks.
         * @enum {string}
         */
        MessageRole: "user" | "assistant" | "tool" | "system";
        ModelConfigResponse: {
            /** @description What to offer where. */
            scopes: components["schemas"]["ModelScopes"];
            /**
             * @description Slugs of routes that the organization switched off; empty without `byo_keys`.
             * @example []
             */
            disabled_providers: string[];
            /**
             * @description Route slug by model key; null without `byo_keys`.
             * @example {
             *       "claude-sonnet-5-5": "anthropic"
             *     }
             */
            model_routes: {
                [key: string]: string;
            } | null;
        };
        /**
         * @description What it does.
         * @enum {string}
         */
        ModelKind: "chat" | "embedding" | "rerank" | "image";
        /** @enum {string} */
        ModelListScope: "agent" | "chat" | "prompt";
        /**
         * @description The mode of this chat; null: the agent’s.
         * @enum {string}
         */
        ModelMode: "trivial" | "normal" | "high_effort" | "x_high";
        ModelModeItem: {
            /**
             * @description The mode.
             * @example normal
             */
            mode: components["schemas"]["ModelMode"];
            /**
             * @description Its name.
             * @example Normal
             */
            label: string;
            /**
             * @description What it is good for.
             * @example The everyday balance of quality and cost.
             */
            description: string;
            /**
             * Format: decimal
             * @description What a call costs compared with the mode `normal`; null where prices are missing.
             * @example 1
             */
            credit_ratio: string | null;
            /**
             * @description The organization could use it now.
             * @example true
             */
            available: boolean;
        };
        ModelModesResponse: {
            /** @description From the least to the most expensive. */
            items: components["schemas"]["ModelModeItem"][];
            /**
             * @description The mode where nobody chose one.
             * @example normal
             */
            default: components["schemas"]["ModelMode"];
        };
        ModelResponse: {
            /**
             * Format: uuid
             * @description The catalog entry.
             */
            id: string;
            /**
             * @description What agents, messages and settings name it by.
             * @example claude-sonnet-5-5
             */
            key: string;
            /**
             * @description Its name.
             * @example Claude Sonnet 5.5
             */
            label: string;
            /**
             * @description Who made it.
             * @example anthropic
             */
            provider: string;
            /**
             * @description What it does.
             * @example chat
             */
            kind: components["schemas"]["ModelKind"];
            /** @description The route that it is called by. */
            route: components["schemas"]["RouteRef"];
            /**
             * Format: uuid
             * @description The organization whose own model it is; null for models of the platform.
             */
            owner_org_id: string | null;
            /**
             * @description It still answers, but a newer one should be chosen.
             * @example false
             */
            deprecated: boolean;
            /**
             * @description Place in lists.
             * @example 10
             */
            sort_order: number;
            /**
             * @description Tokens that fit into one call.
             * @example 1000000
             */
            context_window: number | null;
            /**
             * @description Tokens that it writes at most.
             * @example 128000
             */
            max_output_tokens: number | null;
            /**
             * @description Reasoning efforts that it takes; empty with `supports_reasoning`: all.
             * @example [
             *       "low",
             *       "medium",
             *       "high"
             *     ]
             */
            allowed_efforts: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh")[];
            /**
             * @description Roughly how expensive it is.
             * @example medium
             */
            cost_tier: components["schemas"]["CostTier"] | null;
            /**
             * @description It can think before it answers.
             * @example true
             */
            supports_reasoning: boolean;
            /**
             * @description It reads images.
             * @example true
             */
            supports_vision: boolean;
            /**
             * Format: decimal
             * @description US dollars per million input tokens. Prices are null where the caller pays in credits, and where they are not known.
             * @example 2
             */
            input_price_per_1m: string | null;
            /**
             * Format: decimal
             * @description US dollars per million output tokens, reasoning included.
             * @example 10
             */
            output_price_per_1m: string | null;
            /**
             * Format: decimal
             * @description US dollars per million input tokens that the provider had cached; null: the input price.
             * @example 0.2
             */
            cached_input_price_per_1m: string | null;
            /**
             * Format: decimal
             * @description US dollars per million input tokens that the provider caches; null: the input price.
             * @example 2.5
             */
            cache_write_price_per_1m: string | null;
        };
        ModelScopeConfig: {
            /**
             * @description Models that may be chosen; empty: all.
             * @example [
             *       "claude-sonnet-5-5"
             *     ]
             */
            allowlist: string[];
            /**
             * @description The model that is taken where nobody chose one; null when there is none.
             * @example claude-sonnet-5-5
             */
            default: string | null;
            /**
             * @description Models to offer.
             * @example [
             *       "claude-sonnet-5-5"
             *     ]
             */
            models: string[];
        };
        ModelScopes: {
            /** @description For agents. */
            agent: components["schemas"]["ModelScopeConfig"];
            /** @description For messages in chats. */
            chat: components["schemas"]["ModelScopeConfig"];
            /** @description For prompt templates. */
            prompt: components["schemas"]["ModelScopeConfig"];
            /** @description For steps of processes. */
            process: components["schemas"]["ModelScopeConfig"];
            /** @description For classifying what comes in. */
            intake_classifier: components["schemas"]["ModelScopeConfig"];
            /** @description For choosing tools. */
            tool_router: components["schemas"]["ModelScopeConfig"];
        };
        NewMessage: {
            /** @description The message, as the chat shows it. */
            message: components["schemas"]["ChatMessageDto"];
            /**
             * Format: uuid
             * @description The turn that answers it; null when none does.
             */
            turn_id: string | null;
        };
        NoData: Record<string, never>;
        /**
         * @description Why it was not dispatched; `turn_stopped` where a repeat finds that somebody has stopped the chat since.
         * @enum {string}
         */
        NotDispatchedReason: "turn_running" | "chat_archived" | "chat_abandoned" | "turn_stopped";
        OrgAuditResponse: {
            /** @description The rows of this page. */
            items: components["schemas"]["AuditItem"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        OrgDetailResponse: {
            /**
             * Format: uuid
             * @description The organization.
             */
            id: string;
            /**
             * @description Its name.
             * @example Acme
             */
            name: string;
            /**
             * @description Its slug.
             * @example acme
             */
            slug: string;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description Whether it is suspended.
             * @example false
             */
            suspended: boolean;
            /**
             * Format: date-time
             * @description Since when it is suspended.
             */
            suspended_at: string | null;
            /**
             * @description How many members it has.
             * @example 4
             */
            member_count: number;
            /**
             * @description Code of its plan; null without a subscription.
             * @example starter
             */
            plan_code: string | null;
            /**
             * @description State of its subscription; null without one.
             * @example active
             */
            subscription_status: string | null;
            /**
             * Format: decimal
             * @description What it may still spend: both balances and the overdraft grace; null without a credit account.
             * @example 3150
             */
            credits_remaining: string | null;
            /**
             * Format: decimal
             * @description What is left of granted credits.
             * @example 3000
             */
            credits_balance: string | null;
            /**
             * Format: decimal
             * @description What is left of purchased credits.
             * @example 0
             */
            credits_purchased: string | null;
            /**
             * Format: decimal
             * @description How far below zero granted credits may go.
             * @example 150
             */
            credits_overdraft: string | null;
            /** @description The roster, oldest membership first. */
            members: components["schemas"]["OrgMemberInfo"][];
        };
        OrgLimitsResponse: {
            /**
             * @description Model of agents that name none.
             * @example claude-sonnet-5-5
             */
            agent_default_model: string | null;
            /**
             * @description Models that agents may name; empty: all.
             * @example []
             */
            agent_model_allowlist: string[];
            /**
             * Format: decimal
             * @description Dollars that chats may spend in a calendar month (UTC).
             * @example 500
             */
            budget_limit_usd: string | null;
            /**
             * @description Model of chats.
             * @example claude-sonnet-5-5
             */
            chat_default_model: string | null;
            /**
             * @description Models that messages may name; empty: all.
             * @example []
             */
            chat_model_allowlist: string[];
            /**
             * @description Model that classifies what comes in.
             * @example null
             */
            intake_classifier_default_model: string | null;
            /**
             * @description Model of process steps.
             * @example null
             */
            process_default_model: string | null;
            /**
             * @description Models that prompt templates may name; empty: all.
             * @example []
             */
            prompt_model_allowlist: string[];
            /**
             * @description Model that chooses tools.
             * @example null
             */
            tool_router_default_model: string | null;
            /** @description Agents outside the allowlist for agents. */
            affected_agents: components["schemas"]["AffectedAgent"][];
        };
        OrgLimitsUsageResponse: {
            /**
             * Format: date-time
             * @description Begin of the month, UTC.
             * @example 2026-11-01T00:00:00.000Z
             */
            period_start: string;
            /**
             * Format: date-time
             * @description Begin of the next month.
             * @example 2026-12-01T00:00:00.000Z
             */
            period_end: string;
            /**
             * Format: decimal
             * @description What chats have spent: what the limit is about. Null for an organization that pays in credits.
             * @example 12.5
             */
            spend_usd: string | null;
            /**
             * Format: decimal
             * @description What all model calls have cost, also those outside of chats.
             * @example 13.25
             */
            metered_spend_usd: string | null;
            /**
             * Format: decimal
             * @description The limit as stored.
             * @example 500
             */
            budget_limit_usd: string | null;
            /**
             * Format: decimal
             * @description What is left of the limit; null without one.
             * @example 487.5
             */
            remaining_usd: string | null;
        };
        OrgListItem: {
            /**
             * Format: uuid
             * @description The organization.
             */
            id: string;
            /**
             * @description Its name.
             * @example Acme
             */
            name: string;
            /**
             * @description Its slug.
             * @example acme
             */
            slug: string;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description Whether it is suspended.
             * @example false
             */
            suspended: boolean;
            /**
             * Format: date-time
             * @description Since when it is suspended.
             */
            suspended_at: string | null;
            /**
             * @description How many members it has.
             * @example 4
             */
            member_count: number;
            /**
             * @description Code of its plan; null without a subscription.
             * @example starter
             */
            plan_code: string | null;
            /**
             * @description State of its subscription; null without one.
             * @example active
             */
            subscription_status: string | null;
            /**
             * Format: decimal
             * @description What it may still spend: both balances and the overdraft grace; null without a credit account.
             * @example 3150
             */
            credits_remaining: string | null;
            /**
             * Format: decimal
             * @description What is left of granted credits.
             * @example 3000
             */
            credits_balance: string | null;
            /**
             * Format: decimal
             * @description What is left of purchased credits.
             * @example 0
             */
            credits_purchased: string | null;
            /**
             * Format: decimal
             * @description How far below zero granted credits may go.
             * @example 150
             */
            credits_overdraft: string | null;
        };
        OrgListResponse: {
            /** @description The rows of this page. */
            items: components["schemas"]["OrgListItem"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        OrgMemberInfo: {
            /**
             * Format: uuid
             * @description The member.
             */
            user_id: string;
            /**
             * @description Their address.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description Their name.
             * @example Ada Lovelace
             */
            name: string;
            /**
             * @description Their role.
             * @example ADMIN
             */
            role: components["schemas"]["OrgRole"];
            /**
             * Format: date-time
             * @description When they joined.
             * @example 2026-11-20T09:30:00.000Z
             */
            joined_at: string;
            /**
             * @description Whether the user is deactivated on the platform.
             * @example false
             */
            deactivated: boolean;
        };
        OrgModelResponse: {
            /**
             * Format: uuid
             * @description The catalog entry.
             */
            id: string;
            /**
             * @description What agents, messages and settings name it by.
             * @example claude-sonnet-5-5
             */
            key: string;
            /**
             * @description Its name.
             * @example Claude Sonnet 5.5
             */
            label: string;
            /**
             * @description Who made it.
             * @example anthropic
             */
            provider: string;
            /**
             * @description What it does.
             * @example chat
             */
            kind: components["schemas"]["ModelKind"];
            /** @description The route that it is called by. */
            route: components["schemas"]["RouteRef"];
            /**
             * Format: uuid
             * @description The organization whose own model it is; null for models of the platform.
             */
            owner_org_id: string | null;
            /**
             * @description It still answers, but a newer one should be chosen.
             * @example false
             */
            deprecated: boolean;
            /**
             * @description Place in lists.
             * @example 10
             */
            sort_order: number;
            /**
             * @description Tokens that fit into one call.
             * @example 1000000
             */
            context_window: number | null;
            /**
             * @description Tokens that it writes at most.
             * @example 128000
             */
            max_output_tokens: number | null;
            /**
             * @description Reasoning efforts that it takes; empty with `supports_reasoning`: all.
             * @example [
             *       "low",
             *       "medium",
             *       "high"
             *     ]
             */
            allowed_efforts: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh")[];
            /**
             * @description Roughly how expensive it is.
             * @example medium
             */
            cost_tier: components["schemas"]["CostTier"] | null;
            /**
             * @description It can think before it answers.
             * @example true
             */
            supports_reasoning: boolean;
            /**
             * @description It reads images.
             * @example true
             */
            supports_vision: boolean;
            /**
             * Format: decimal
             * @description US dollars per million input tokens. Prices are null where the caller pays in credits, and where they are not known.
             * @example 2
             */
            input_price_per_1m: string | null;
            /**
             * Format: decimal
             * @description US dollars per million output tokens, reasoning included.
             * @example 10
             */
            output_price_per_1m: string | null;
            /**
             * Format: decimal
             * @description US dollars per million input tokens that the provider had cached; null: the input price.
             * @example 0.2
             */
            cached_input_price_per_1m: string | null;
            /**
             * Format: decimal
             * @description US dollars per million input tokens that the provider caches; null: the input price.
             * @example 2.5
             */
            cache_write_price_per_1m: string | null;
            /**
             * @description A call could be made now: its route has a key, or needs none.
             * @example true
             */
            available: boolean;
            /**
             * @description Where the allowlists of the organization let it be chosen.
             * @example [
             *       "agent",
             *       "chat",
             *       "prompt"
             *     ]
             */
            scopes: ("agent" | "chat" | "prompt")[];
        };
        /**
         * @description The caller’s role.
         * @enum {string}
         */
        OrgRole: "OWNER" | "ADMIN" | "MEMBER";
        OrgRouteChange: {
            /**
             * @description The own key, which nobody gets to read again; empty clears it, too.
             * @example sk-...
             */
            api_key?: string | null;
            /**
             * @description Where the credential comes from.
             * @example api_key
             */
            credential_source?: components["schemas"]["CredentialSource"] | null;
            /**
             * @description Instead of the route’s address. Needs a key of your own for the route, and goes with it; empty clears it, too.
             * @example https://models.example.com/v1
             */
            base_url?: string | null;
            /**
             * @description The switch of the organization.
             * @example true
             */
            enabled?: boolean | null;
        };
        OrgRouteSetting: {
            /**
             * @description The route.
             * @example openai
             */
            slug: string;
            /**
             * Format: uuid
             * @description Its id.
             */
            route_id: string;
            /**
             * @description Its name.
             * @example OpenAI
             */
            label: string;
            /**
             * @description The dialect spoken there: 1 Chat Completions, 2 Messages, 3 generateContent.
             * @example dialect_1
             */
            dialect: components["schemas"]["Dialect"];
            /**
             * @description Whether the route is on at all.
             * @example true
             */
            platform_enabled: boolean;
            /**
             * @description The switch of the organization; null: as the platform says.
             * @example null
             */
            enabled: boolean | null;
            /**
             * @description Where the credential comes from; null inherits.
             * @example null
             */
            credential_source: components["schemas"]["CredentialSource"] | null;
            /**
             * @description The own key, masked.
             * @example sk-…4f2a
             */
            api_key: string | null;
            /**
             * @description Whether there is an own key.
             * @example true
             */
            is_set: boolean;
            /**
             * @description The address that the organization uses instead of the route’s.
             * @example null
             */
            base_url: string | null;
            /**
             * @description Slug of the route whose key is spent; such a route takes no key of its own.
             * @example null
             */
            borrows_from: string | null;
            /**
             * @description The route belongs to the organization.
             * @example false
             */
            owned: boolean;
        };
        OrgRouteSettingsResponse: {
            /** @description Every route, in display order, also unconfigured and disabled ones. */
            items: components["schemas"]["OrgRouteSetting"][];
        };
        OrgRuntimeSettingsResponse: {
            /**
             * @description Whether long chats are compacted; null inherits, as everywhere here.
             * @example null
             */
            compaction_enabled: boolean | null;
            /**
             * @description Share of the context window at which a chat is compacted.
             * @example null
             */
            compaction_threshold: number | null;
            /**
             * @description Whether decisions are recorded.
             * @example null
             */
            decision_log_enabled: boolean | null;
            /**
             * @description Whether models may think.
             * @example null
             */
            thinking_enabled: boolean | null;
            /** @description What holds where a setting is null. */
            platform_defaults: components["schemas"]["RuntimeDefaults"];
        };
        OrgSnapshot: {
            /** @description The caller’s role. */
            role: components["schemas"]["OrgRole"];
            /**
             * @description The newest event that is part of it.
             * @example 0
             */
            last_id: string;
        };
        OrgSuspendedEvent: {
            /**
             * @description The organization is suspended; the stream ends with it. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "org_suspended";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["NoData"];
        };
        OrgSuspensionResponse: {
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * @description Whether it is suspended now.
             * @example true
             */
            suspended: boolean;
            /**
             * Format: date-time
             * @description Since when. Suspending again keeps the first time.
             */
            suspended_at: string | null;
            /**
             * @description False when it was so already.
             * @example true
             */
            changed: boolean;
        };
        OrganizationAuditActor: {
            /**
             * Format: uuid
             * @description The user who acted.
             * @example 0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a12
             */
            id: string;
            /**
             * @description Their address today; null when the user is gone.
             * @example ada@example.com
             */
            email: string | null;
        };
        OrganizationAuditItem: {
            /**
             * Format: uuid
             * @description The entry.
             * @example 0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a14
             */
            id: string;
            /**
             * @description `business`: a member acted; `admin`: an operator of the platform did, who stays nameless.
             * @example business
             */
            source: components["schemas"]["AuditSource"];
            /**
             * @description What was done, as `<thing>.<verb>`.
             * @example member.role_changed
             */
            action: string;
            /** @description Who did it; null for the system and for operators. */
            actor: components["schemas"]["OrganizationAuditActor"] | null;
            /** @description What it was done to. */
            target: components["schemas"]["OrganizationAuditTarget"];
            /**
             * @description Facts that a reader needs. Never secrets.
             * @example {
             *       "from": "MEMBER",
             *       "to": "ADMIN"
             *     }
             */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
        };
        OrganizationAuditResponse: {
            /** @description The rows of this page. */
            items: components["schemas"]["OrganizationAuditItem"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        OrganizationAuditTarget: {
            /**
             * @description Kind of the thing.
             * @example user
             */
            kind: string;
            /**
             * @description Its id.
             * @example 0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a13
             */
            id: string | null;
        };
        OrganizationDeletedResponse: {
            /**
             * Format: uuid
             * @description The organization that was deleted.
             * @example 0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            org_id: string;
            /**
             * Format: date-time
             * @description Since when nobody gets in.
             * @example 2026-11-20T09:30:00.000Z
             */
            deleted_at: string;
        };
        OrganizationListResponse: {
            /** @description The rows of this page. */
            items: components["schemas"]["OrganizationResponse"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        OrganizationResponse: {
            /**
             * Format: uuid
             * @description The organization.
             * @example 0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            id: string;
            /**
             * @description What people call it.
             * @example Acme
             */
            name: string;
            /**
             * @description Name for addresses.
             * @example acme
             */
            slug: string;
            /**
             * @description Code of the plan that it is subscribed to; null without a subscription.
             * @example starter
             */
            plan_code: string | null;
            /**
             * @description A suspended organization lets its members in no more.
             * @example false
             */
            suspended: boolean;
            /**
             * Format: date-time
             * @description Since when it is suspended.
             */
            suspended_at: string | null;
            /**
             * @description How many members it has.
             * @example 4
             */
            member_count: number;
            /**
             * @description The caller's role in it.
             * @example OWNER
             */
            my_role: components["schemas"]["OrgRole"];
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-20T09:30:00.000Z
             */
            updated_at: string;
        };
        Page_AgentMemoryResponse_: {
            /** @description The rows of this page. */
            items: components["schemas"]["AgentMemoryResponse"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        Page_AgentResponse_: {
            /** @description The rows of this page. */
            items: components["schemas"]["AgentResponse"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        Page_AgentRevisionResponse_: {
            /** @description The rows of this page. */
            items: components["schemas"]["AgentRevisionResponse"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        Page_ChatTodo_: {
            /** @description The rows of this page. */
            items: components["schemas"]["ChatTodo"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        Page_DecisionGroupItem_: {
            /** @description The rows of this page. */
            items: components["schemas"]["DecisionGroupItem"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        Page_HitlRequest_: {
            /** @description The rows of this page. */
            items: components["schemas"]["HitlRequest"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        Page_InstructionRevisionResponse_: {
            /** @description The rows of this page. */
            items: components["schemas"]["InstructionRevisionResponse"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        Page_ModelResponse_: {
            /** @description The rows of this page. */
            items: components["schemas"]["ModelResponse"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        Page_OrgModelResponse_: {
            /** @description The rows of this page. */
            items: components["schemas"]["OrgModelResponse"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        Page_SkillResponse_: {
            /** @description The rows of this page. */
            items: components["schemas"]["SkillResponse"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        /**
         * @description What it waits for: a human, its child chats, a time, or room to run.
         * @enum {string}
         */
        PauseKind: "human" | "children" | "timer" | "queued";
        PingEvent: {
            /**
             * @description The stream is alive; every 15 seconds. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "ping";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["NoData"];
        };
        PlatformAdminResponse: {
            /**
             * Format: uuid
             * @description The operator.
             */
            user_id: string;
            /**
             * @description Their address.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description Their name.
             * @example Ada Lovelace
             */
            name: string;
            /** @description Who made them an operator; null for the first one, made at installation. */
            added_by: components["schemas"]["AdminUserRef"] | null;
            /**
             * Format: date-time
             * @description When they became an operator.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
        };
        PlatformAuditResponse: {
            /** @description The rows of this page. */
            items: components["schemas"]["AuditItem"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        Presence: {
            /** @description Who has the chat open. */
            viewers: components["schemas"]["ChatViewer"][];
        };
        PresenceChangedEvent: {
            /**
             * @description Somebody has come or gone. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "presence_changed";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["Presence"];
        };
        PutSkillRequest: {
            /**
             * @description What people call it.
             * @example Refunds
             */
            name: string;
            /**
             * @description What it does and when to use it; by this the agent decides whether to read on.
             * @example Use when a customer asks for money back.
             */
            description: string;
            /**
             * @description Markdown.
             * @example # Refunds
             *
             *     1. Find the order.
             */
            content: string;
            /** @description Files that belong to it. */
            files?: components["schemas"]["SkillFile"][];
        };
        /**
         * @description Needs the entitlement `direct_model_choice`.
         * @enum {string}
         */
        ReasoningEffort: "none" | "minimal" | "low" | "medium" | "high" | "xhigh";
        ReceivedResponse: {
            /**
             * @description Always the same.
             * @example received
             * @enum {string}
             */
            status: "received";
        };
        ResendVerificationRequest: {
            /**
             * Format: email
             * @description The address to mail a link to. Omitted: the caller's own, with a bearer token.
             * @example ada@example.com
             */
            email?: string;
        };
        ResetPasswordRequest: {
            /** @description Secret of the mailed link. */
            token: string;
            /**
             * Format: password
             * @description The new password.
             * @example correct horse battery staple
             */
            password: string;
            /**
             * @description Revoke all API tokens, too; so is done in any case where the address was not proven yet.
             * @default false
             */
            revoke_tokens?: boolean;
        };
        RestartedMessage: {
            /**
             * Format: uuid
             * @description The message whose deltas no longer count: another worker writes it anew.
             */
            message_id: string;
            /**
             * Format: uuid
             * @description The turn that it belongs to.
             */
            turn_id: string;
        };
        ReviewDecisionRequest: {
            /**
             * @description `agreed` marks it; `disputed` can say what it should have been; `reverted` says that its effect was undone outside, and needs a note. Each follows any status.
             * @enum {string}
             */
            review_status: "agreed" | "disputed" | "reverted";
            /**
             * @description For other reviewers. Required with `reverted`.
             * @example The refund was cancelled at the bank.
             */
            review_note?: string | null;
            /**
             * @description What it should have been, as an instruction to the agent. Stored with `disputed` alone; left out, it stays what it was.
             * @example Refunds above 100 USD go to a human first.
             */
            should_have?: string | null;
        };
        RevisionDraftResponse: {
            /**
             * Format: uuid
             * @description The instruction draft; null when the correction is published already and there is no draft.
             */
            draft_id: string | null;
            /**
             * Format: uuid
             * @description The published instruction that the draft began from.
             */
            base_revision_id: string | null;
            /** @description The instruction as it now reads. */
            content: string;
            /** @description This call has appended the correction. */
            appended: boolean;
            /** @description It was there before. */
            already_appended: boolean;
        };
        RolloutArmResponse: {
            /**
             * @description Names the arm within the rollout.
             * @example v3
             */
            label: string;
            /**
             * Format: uuid
             * @description The revision that its chats run on.
             */
            revision_id: string;
            /**
             * @description Number of that revision.
             * @example 3
             */
            version: number;
            /**
             * @description Its share of new chats, in basis points; all arms together have 10000.
             * @example 10000
             */
            weight: number;
            /**
             * @description Chats that it got.
             * @example 0
             */
            chat_count: number;
            /**
             * @description Whether the other arms are compared with it.
             * @example false
             */
            is_control: boolean;
        };
        RolloutDetailResponse: {
            /**
             * Format: uuid
             * @description The rollout.
             */
            id: string;
            /**
             * Format: uuid
             * @description The agent.
             */
            agent_id: string;
            /** @description One revision for all chats, or several side by side. */
            kind: components["schemas"]["RolloutKind"];
            /** @description `live` for the deployment in force, `running` for an experiment in progress. */
            status: components["schemas"]["RolloutStatus"];
            /** @description What people call it. */
            label: string | null;
            /** @description What the experiment is to show. */
            hypothesis: string | null;
            /** @description What is assigned to an arm: each chat, or all chats of whoever began them. */
            unit: components["schemas"]["RolloutUnit"];
            /** @description Label of the arm that the others are compared with. */
            control: string | null;
            /** @description Chats per arm below which results say nothing. */
            min_sample: number | null;
            /** @description What its costs are counted in. */
            billing_unit: components["schemas"]["BillingUnit"];
            /** @description The revisions in it. */
            arms: components["schemas"]["RolloutArmResponse"][];
            /** @description Label of the arm that was promoted. */
            promoted_arm: string | null;
            /**
             * Format: uuid
             * @description Who started it.
             */
            started_by: string | null;
            /**
             * Format: date-time
             * @description When it began.
             * @example 2026-11-20T09:30:00.000Z
             */
            started_at: string;
            /**
             * Format: date-time
             * @description When it ended.
             * @example 2026-11-21T09:30:00.000Z
             */
            ended_at: string | null;
            /**
             * Format: date-time
             * @description The same as `started_at`.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it began or ended.
             * @example 2026-11-20T09:30:00.000Z
             */
            updated_at: string;
        };
        /**
         * @description One revision for all chats, or several side by side.
         * @enum {string}
         */
        RolloutKind: "deploy" | "experiment";
        RolloutListResponse: {
            /** @description The rows of this page. */
            items: components["schemas"]["RolloutDetailResponse"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        /**
         * @description `live` for the deployment in force, `running` for an experiment in progress.
         * @enum {string}
         */
        RolloutStatus: "live" | "running" | "superseded" | "promoted" | "stopped";
        /**
         * @description What is assigned to an arm: each chat, or all chats of whoever began them.
         * @enum {string}
         */
        RolloutUnit: "chat" | "originator";
        RouteRef: {
            /**
             * Format: uuid
             * @description The route.
             */
            id: string;
            /**
             * @description Its slug.
             * @example anthropic
             */
            slug: string;
        };
        RuntimeDefaults: {
            /**
             * @description Whether long chats are compacted.
             * @example true
             */
            compaction_enabled: boolean;
            /**
             * @description Share of the context window at which a chat is compacted.
             * @example 0.8
             */
            compaction_threshold: number;
            /**
             * @description Whether decisions are recorded.
             * @example true
             */
            decision_log_enabled: boolean;
            /**
             * @description Whether models may think.
             * @example true
             */
            thinking_enabled: boolean;
        };
        SaveInstructionDraftRequest: {
            /**
             * @description The whole text.
             * @example You answer politely and briefly.
             */
            content: string;
            /**
             * @description The `base_version` that the author had read. If it is no longer the current one, nothing is saved (409). Without it the last save wins.
             * @example v4
             */
            base_version?: string | null;
        };
        SealedAgentConfigResponse: {
            /**
             * @description Version of this shape.
             * @example 1
             */
            schema_version: number;
            /**
             * Format: uuid
             * @description The agent.
             */
            agent_id: string;
            /**
             * @description Its name.
             * @example Support agent
             */
            name: string;
            /**
             * @description Its slug.
             * @example support-agent
             */
            slug: string;
            /** @description What it is for. */
            description: string | null;
            /** @description Seed of its picture. */
            avatar_seed: string | null;
            /**
             * Format: uuid
             * @description Its team.
             */
            team_id: string | null;
            /**
             * Format: uuid
             * @description Its project.
             */
            project_id: string | null;
            /**
             * @description The instruction that was published.
             * @example You answer politely and briefly.
             */
            instruction: string;
            /**
             * @description Version of that instruction; 0 when there was none.
             * @example 1
             */
            instruction_version: number;
            /**
             * @description Key of its model; null for the default.
             * @example mock
             */
            model: string | null;
            /**
             * @description Its mode; null for the default.
             * @enum {string|null}
             */
            model_mode: "trivial" | "normal" | "high_effort" | "x_high" | null;
            /**
             * @description Null for the default.
             * @enum {string|null}
             */
            reasoning_effort: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | null;
            /**
             * @description Tool scopes that it may use.
             * @example [
             *       "core"
             *     ]
             */
            allowed_tools: string[];
            /**
             * @description Tool scopes that it may not use.
             * @example []
             */
            denied_tools: string[];
            /**
             * @description Slugs of its skills.
             * @example [
             *       "clear-writing"
             *     ]
             */
            mounted_skills: string[];
            /** @description Knowledge bases that it reads. */
            knowledge_base_ids: string[];
            /**
             * Format: uuid
             * @description Where its commands run.
             */
            environment_id: string | null;
            /** @description Agents that it may delegate to. */
            child_agent_ids: string[];
            /**
             * @description Model calls that one turn may take.
             * @example 50
             */
            max_steps: number;
            /**
             * @description How deep delegation may go.
             * @example 5
             */
            max_child_depth: number;
            /** @description Whether it may write memories. */
            memory_enabled: boolean;
            /**
             * Format: decimal
             * @description Credits it may spend in a billing period.
             * @example 500.000000
             */
            budget_credits_per_period: string | null;
            /** @description The caller’s own. */
            metadata: {
                [key: string]: unknown;
            };
        };
        SendMessageRequest: {
            /**
             * @description What the user says.
             * @example What is on my list today?
             */
            content: string;
            /** @description Files that were uploaded before, of which the caller may see each. From then on, whoever may open the chat may open them. */
            attachment_ids?: string[];
            /**
             * @description Key of the catalog; needs the entitlement `direct_model_choice`.
             * @example mock
             */
            model?: string | null;
            /** @description Refused where the organization chooses models directly. */
            model_mode_override?: components["schemas"]["ModelMode"] | null;
            /** @description Needs the entitlement `direct_model_choice`. */
            reasoning_effort?: components["schemas"]["ReasoningEffort"] | null;
        };
        SendMessageResponse: {
            /**
             * Format: uuid
             * @description The stored message.
             */
            message_id: string;
            /**
             * Format: uuid
             * @description The chat.
             */
            chat_id: string;
            /**
             * Format: uuid
             * @description The turn that answers it; null when nothing runs.
             */
            turn_id: string | null;
            /** @description A worker runs the turn. */
            dispatched: boolean;
            /** @description The turn waits behind the one that runs. */
            queued: boolean;
            /** @description Why it was not dispatched; `turn_stopped` where a repeat finds that somebody has stopped the chat since. */
            reason: components["schemas"]["NotDispatchedReason"] | null;
        };
        SessionDetails: {
            /**
             * Format: uuid
             * @description The session.
             */
            id: string;
            /**
             * Format: date-time
             * @description When somebody signed in.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Last use, to within five minutes.
             * @example 2026-11-20T09:30:00.000Z
             */
            last_used_at: string;
            /**
             * Format: date-time
             * @description When it ends in any case; unused for 7 days it ends earlier.
             * @example 2026-12-20T09:30:00.000Z
             */
            expires_at: string;
            /**
             * @description What the client calls itself: printable ASCII, the first 256 characters.
             * @example Mozilla/5.0 (X11; Linux x86_64)
             */
            user_agent: string | null;
            /**
             * @description Address that the sign-in came from.
             * @example 203.0.113.9
             */
            ip: string | null;
            /**
             * @description Whether it is the session that asks.
             * @example true
             */
            current: boolean;
        };
        SessionInfo: {
            /**
             * @description Send it as `Authorization: Bearer <token>`. Shown this once.
             * @example aps_3q2-7wEjRWeJq83vASNFZ4mrze8BI0Vniavz7wEjRWc
             */
            token: string;
            /**
             * @description How to send it.
             * @example bearer
             * @enum {string}
             */
            token_type: "bearer";
            /**
             * Format: date-time
             * @description When it ends in any case; unused for 7 days it ends earlier.
             * @example 2026-12-20T09:30:00.000Z
             */
            expires_at: string;
        };
        SessionListResponse: {
            /** @description The rows of this page. */
            items: components["schemas"]["SessionDetails"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        SignupRequest: {
            /**
             * Format: email
             * @description The address to sign in with; compared without regard to case.
             * @example ada@example.com
             */
            email: string;
            /**
             * Format: password
             * @description The password.
             * @example correct horse battery staple
             */
            password: string;
            /**
             * @description Name of the person. Omitted: what stands before the @.
             * @example Ada Lovelace
             */
            name?: string;
            /** @description Secret of the invitation link that led here. */
            invitation_token?: string;
            /**
             * @description Name of the organization that is made when no invitation waits.
             * @example Analytical Engines
             */
            org_name?: string;
        };
        SkillFile: {
            /**
             * Format: uuid
             * @description An uploaded file.
             */
            file_id: string;
            /**
             * @description What the agent sees it called.
             * @example checklist.md
             */
            filename?: string | null;
        };
        SkillResponse: {
            /**
             * Format: uuid
             * @description The skill.
             */
            id: string;
            /**
             * @description Names it.
             * @example refunds
             */
            slug: string;
            /**
             * @description What people call it.
             * @example Refunds
             */
            name: string;
            /**
             * @description What it does and when to use it.
             * @example Use when a customer asks for money back.
             */
            description: string;
            /**
             * @description Markdown.
             * @example # Refunds
             *
             *     1. Find the order.
             */
            content: string;
            /** @description Files that belong to it. */
            files: components["schemas"]["SkillFile"][];
            /**
             * @description Whether it comes with the service; such a skill cannot be changed.
             * @example false
             */
            is_system: boolean;
            /**
             * Format: uuid
             * @description Who made it.
             */
            created_by: string | null;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             * @example 2026-11-20T09:30:00.000Z
             */
            updated_at: string;
        };
        SnapshotEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description What the stream begins with. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "snapshot";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["ChatSnapshot"];
        };
        StatusChange: {
            /** @description What the chat was. */
            from: components["schemas"]["ChatStatus"];
            /** @description What it is. */
            to: components["schemas"]["ChatStatus"];
            /** @description Why it stopped by itself, was stopped or archived. */
            stop_reason: string | null;
            /** @description What it waits for. */
            pause: components["schemas"]["ChatPauseDto"] | null;
            /** @description Why the turn could not be handed to a worker. */
            error?: components["schemas"]["ChatErrorDto"] | null;
            /** @description What was said by who stopped it. */
            reason?: string | null;
        };
        StatusChangedEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description The chat is something else now. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "status_changed";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["StatusChange"];
        };
        StopChatRequest: {
            /**
             * @description Also stop every descendant chat.
             * @default false
             */
            cascade?: boolean;
            /** @description Why; for the record. */
            reason?: string | null;
        };
        StopChatResponse: {
            /**
             * Format: uuid
             * @description The chat.
             */
            chat_id: string;
            /** @description What the chat is now. */
            status: components["schemas"]["ChatStatus"];
            /** @description Whether there was something to stop. */
            stopped: boolean;
            /**
             * Format: date-time
             * @description When it was asked to stop.
             */
            stop_requested_at: string | null;
            /**
             * @description What the chat waited for and no longer does.
             * @enum {string|null}
             */
            cleared_pause: "human" | "children" | "timer" | "queued" | null;
            /** @description Descendant chats that were stopped with it. */
            cascaded_chat_ids: string[];
        };
        SubscriptionBackfillRequest: {
            /**
             * Format: uuid
             * @description Only this organization. Omitted: every organization that has no subscription.
             */
            org_id?: string | null;
            /**
             * @description Code of the plan. Omitted: the plan of new organizations (CREDITS_DEFAULT_NEW_ORG_PLAN).
             * @example trial
             */
            plan_code?: string | null;
        };
        SubscriptionBackfillResponse: {
            /**
             * @description Subscriptions that were made.
             * @example 3
             */
            created: number;
            /**
             * @description Organizations that were looked at and left as they are.
             * @example 12
             */
            skipped: number;
            /**
             * @description Code of the plan.
             * @example trial
             */
            plan_code: string;
            /** @description The organizations that were subscribed. */
            org_ids: string[];
        };
        TerminateChatResponse: {
            /**
             * Format: uuid
             * @description The chat.
             */
            chat_id: string;
            /** @description What the chat is now. */
            status: components["schemas"]["ChatStatus"];
            /** @description False when it was over already. */
            terminated: boolean;
            /**
             * Format: date-time
             * @description When it was terminated.
             */
            completed_at: string | null;
            /** @description Requests to humans that were cancelled with it. */
            cancelled_hitl_request_ids: string[];
        };
        TicketResponse: {
            /** @description For `?ticket=`, once. */
            ticket: string;
            /**
             * @description Seconds until it is void.
             * @example 60
             */
            expires_in: number;
        };
        TimelineActor: {
            /**
             * @description The last four are what began the chat.
             * @example user
             */
            kind: components["schemas"]["TimelineActorKind"];
            /** @description Which one. */
            id: string | null;
            /** @description Its name. */
            name: string | null;
        };
        /**
         * @description The last four are what began the chat.
         * @enum {string}
         */
        TimelineActorKind: "user" | "agent" | "tool" | "system" | "inbox" | "process" | "api" | "schedule";
        TimelineCost: {
            /**
             * Format: decimal
             * @description Null where the organization pays in credits, and where the model had no price.
             */
            cost_usd: string | null;
            /**
             * Format: decimal
             * @description Credits.
             */
            credits: string;
        };
        TimelineEvent: {
            /**
             * @description The event. A number is the id that the chat’s stream gives it.
             * @example 41
             */
            id: string;
            /** @description Its place in the timeline, counted from the oldest; it stays. */
            seq: number;
            /**
             * @description What happened; others may come.
             * @example user_message_received
             */
            type: components["schemas"]["TimelineEventType"];
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description Who did it. */
            actor: components["schemas"]["TimelineActor"];
            /** @description One line for a human. */
            message: string | null;
            /** @description What the event tells, by its type. `user_message_received` has `content` and `attachments`, `agent_step` has `kind`: `llm` or `tool`. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description Tokens of a model call; only on its `agent_step`. */
            usage: components["schemas"]["TokenCounts"] | null;
            /** @description What a model call cost; only on its `agent_step`. */
            cost: components["schemas"]["TimelineCost"] | null;
        };
        /**
         * @description What happened; others may come.
         * @enum {string}
         */
        TimelineEventType: "user_message_received" | "agent_step" | "assistant_message" | "status_changed" | "message_created" | "tool_call" | "tool_result" | "hitl_requested" | "hitl_resolved" | "decision_recorded" | "delegation_started" | "delegation_finished" | "todo_updated" | "memory_written" | "compaction" | "blocker" | "error";
        TitleChange: {
            /** @description What the chat is about now. */
            title: string | null;
        };
        TitleChangedEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description The chat has another name. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "title_changed";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["TitleChange"];
        };
        TodoList: {
            /** @description The whole list, in its order. */
            todos: components["schemas"]["TodoListItem"][];
        };
        TodoListItem: {
            /**
             * Format: uuid
             * @description The item.
             */
            id: string;
            /** @description What is to be done. */
            title: string;
            /** @description How far it is. */
            status: components["schemas"]["TodoStatus"];
        };
        /**
         * @description How far it is.
         * @enum {string}
         */
        TodoStatus: "pending" | "in_progress" | "completed" | "invalidated";
        TodoUpdatedEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description The agent has changed what it means to do. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "todo_updated";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["TodoList"];
        };
        ToggleChangeDto: {
            /**
             * @description One of the scopes that the chat lists.
             * @example system:web
             */
            scope: string;
            /** @description On or off. */
            enabled: boolean;
        };
        ToggleDto: {
            /**
             * @description What the tools behind it have as their scope.
             * @example system:web
             */
            scope: string;
            /**
             * @description Its name, for humans.
             * @example Web search
             */
            label: string;
            /** @description The web, or a connection. */
            kind: components["schemas"]["ToggleKind"];
            /** @description The connection; null for the web. */
            connection_id: string | null;
            /** @description Whether the chat has it on. */
            enabled: boolean;
        };
        /**
         * @description The web, or a connection.
         * @enum {string}
         */
        ToggleKind: "web" | "connection";
        TogglesResponse: {
            /** @description All that can be switched in this chat. */
            toggles: components["schemas"]["ToggleDto"][];
            /** @description The scopes that are on, as stored; null: all, which is the default. */
            enabled_scopes: string[] | null;
        };
        TokenCost: {
            /** @description Tokens of this kind. */
            tokens: number;
            /**
             * Format: decimal
             * @description Null where the organization pays in credits.
             */
            cost_usd: string | null;
            /**
             * Format: decimal
             * @description Credits. They are charged by call, and shared out by what its tokens cost.
             */
            credits: string;
        };
        TokenCounts: {
            /** @description Tokens read. */
            input: number;
            /** @description Read from a cache. */
            cached_input: number;
            /** @description Written to a cache. */
            cache_write: number;
            /** @description Tokens written. */
            output: number;
            /** @description Reasoning. */
            reasoning: number;
        };
        TokenInfo: {
            /**
             * Format: uuid
             * @description The token.
             */
            id: string;
            /**
             * @description What it is for.
             * @example Nightly export
             */
            name: string;
            /**
             * @description More about it.
             * @example Runs on the reporting server.
             */
            description: string | null;
            /**
             * @description What it may do.
             * @example agents:read chats:write
             */
            scope: string;
            /**
             * Format: uuid
             * @description The only organization that it is good for; null = all of its user.
             */
            org_id: string | null;
            /**
             * @description How it begins.
             * @example apt_3kTz
             */
            prefix: string;
            /**
             * @description How it ends.
             * @example 0mQx
             */
            last4: string;
            /**
             * Format: date-time
             * @description Last use, to within five minutes.
             * @example 2026-11-20T09:30:00.000Z
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description When it expires; null = never.
             * @example 2027-02-18T09:30:00.000Z
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The same: a token cannot be changed.
             * @example 2026-11-20T09:30:00.000Z
             */
            updated_at: string;
        };
        TokenListResponse: {
            /** @description The rows of this page. */
            items: components["schemas"]["TokenInfo"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        TokenTypeCosts: {
            /** @description What models read, without what came from a cache or was written to one. */
            input: components["schemas"]["TokenCost"];
            /** @description Read from a cache. */
            cached_input: components["schemas"]["TokenCost"];
            /** @description Written to a cache. */
            cache_write: components["schemas"]["TokenCost"];
            /** @description What models wrote, without reasoning. */
            output: components["schemas"]["TokenCost"];
            /** @description Reasoning, at the price of output. */
            reasoning: components["schemas"]["TokenCost"];
        };
        /**
         * @description What the tool does.
         * @enum {string}
         */
        ToolAccessLevel: "read" | "write" | "destructive";
        ToolCallEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description The model asks for a call. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "tool_call";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["ToolCallStart"];
        };
        ToolCallResult: {
            /**
             * Format: uuid
             * @description The tool message.
             */
            message_id: string;
            /** @description The call of the model. */
            tool_call_id: string;
            /** @description The tool. */
            name: string;
            /** @description Whether it did what it was asked for. */
            status: components["schemas"]["ToolCallStatus"];
            /** @description What the model was told. */
            content: string;
            /**
             * Format: uuid
             * @description The turn that it belongs to.
             */
            turn_id: string;
        };
        ToolCallStart: {
            /** @description The call of the model. */
            tool_call_id: string;
            /** @description The tool, as the model wrote it. */
            name: string;
            /** @description JSON text, as the model wrote it. */
            arguments: string;
            /**
             * Format: uuid
             * @description The message that asks for it.
             */
            message_id: string;
            /**
             * Format: uuid
             * @description The turn that it belongs to.
             */
            turn_id: string;
        };
        /**
         * @description Whether it did what it was asked for.
         * @enum {string}
         */
        ToolCallStatus: "done" | "failed";
        ToolResultEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description The call is over. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "tool_result";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["ToolCallResult"];
        };
        TopicClosed: {
            /**
             * @description Why.
             * @enum {string}
             */
            reason: "access_lost";
        };
        TopicClosedEvent: {
            /**
             * @description The caller may not follow the topic any more; the stream goes on with the others. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "topic_closed";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells. */
            data: components["schemas"]["TopicClosed"];
        };
        TopicSnapshotEvent: {
            /**
             * @description Number of the event within its topic.
             * @example 41
             */
            id: string;
            /**
             * @description What each topic begins with. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "snapshot";
            /**
             * @description What it is about; null for what concerns a stream of several topics as a whole.
             * @example chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11
             */
            topic: string | null;
            /**
             * Format: uuid
             * @description The organization.
             */
            org_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description What it tells, by the kind of its topic. */
            data: components["schemas"]["ChatSnapshot"] | components["schemas"]["OrgSnapshot"];
        };
        TopicStreamEvent: components["schemas"]["TopicSnapshotEvent"] | components["schemas"]["StatusChangedEvent"] | components["schemas"]["MessageCreatedEvent"] | components["schemas"]["MessageCompletedEvent"] | components["schemas"]["MessageRestartedEvent"] | components["schemas"]["ToolCallEvent"] | components["schemas"]["ToolResultEvent"] | components["schemas"]["HitlRequestedEvent"] | components["schemas"]["HitlResolvedEvent"] | components["schemas"]["DecisionRecordedEvent"] | components["schemas"]["DelegationStartedEvent"] | components["schemas"]["DelegationFinishedEvent"] | components["schemas"]["TodoUpdatedEvent"] | components["schemas"]["MemoryWrittenEvent"] | components["schemas"]["CompactionEvent"] | components["schemas"]["BlockerEvent"] | components["schemas"]["ErrorEvent"] | components["schemas"]["TitleChangedEvent"] | components["schemas"]["MessageDeltaEvent"] | components["schemas"]["PresenceChangedEvent"] | components["schemas"]["PingEvent"] | components["schemas"]["OrgSuspendedEvent"] | components["schemas"]["TopicClosedEvent"];
        TurnBlocker: {
            /**
             * @description What has to be lifted before the chat can go on.
             * @example credits_exhausted
             */
            stop_reason: string;
            /** @description One sentence for a human. */
            message: string;
            /**
             * Format: uuid
             * @description The turn that it belongs to.
             */
            turn_id: string;
        };
        TurnError: {
            /**
             * @description Stable, for programs.
             * @example provider_unavailable
             */
            code: string;
            /** @description One sentence for a human. */
            message: string;
            /** @description Whether `continue` may help. */
            retryable: boolean;
            /**
             * Format: uuid
             * @description The turn that it belongs to.
             */
            turn_id: string;
        };
        UpdateAgentRequest: {
            /**
             * @description Unique among the live agents of the organization. Default: made from the name.
             * @example support-agent
             */
            slug?: string | null;
            /**
             * @description What the agent is for.
             * @example Answers support questions from the handbook.
             */
            description?: string | null;
            /**
             * @description Clients draw the agent’s picture from it.
             * @example teal-fox
             */
            avatar_seed?: string | null;
            /**
             * Format: uuid
             * @description The team it belongs to.
             */
            team_id?: string | null;
            /**
             * Format: uuid
             * @description The project it belongs to.
             */
            project_id?: string | null;
            /**
             * @description The instruction. Setting it publishes a new version of it.
             * @example You answer politely and briefly.
             */
            instruction?: string | null;
            /**
             * @description Key of a catalog model; needs `direct_model_choice`. Null: the default.
             * @example mock
             */
            model?: string | null;
            /**
             * @description Instead of a model, where the plan does not include `direct_model_choice`.
             * @example normal
             * @enum {string|null}
             */
            model_mode?: "trivial" | "normal" | "high_effort" | "x_high" | null;
            /**
             * @description Needs `direct_model_choice`. Null: the default.
             * @example medium
             * @enum {string|null}
             */
            reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | null;
            /**
             * @description Tool scopes: `core`, `system:web`, `system:exec`, `kb:{slug}`, `con:{slug}`, `agent:{slug}`, `process:{slug}`, an exact tool `con_slug.tool_name`, or `*` for all. What the agent may use.
             * @example [
             *       "core",
             *       "system:web"
             *     ]
             */
            allowed_tools?: string[];
            /**
             * @description Tool scopes: `core`, `system:web`, `system:exec`, `kb:{slug}`, `con:{slug}`, `agent:{slug}`, `process:{slug}`, an exact tool `con_slug.tool_name`, or `*` for all. What it may not use, whatever its team or project grants.
             * @example [
             *       "core",
             *       "system:web"
             *     ]
             */
            denied_tools?: string[];
            /**
             * @description Slugs of skills.
             * @example [
             *       "clear-writing"
             *     ]
             */
            mounted_skills?: string[];
            /** @description Knowledge bases that it reads. */
            knowledge_base_ids?: string[];
            /**
             * Format: uuid
             * @description Where its commands run. Null: the built-in sandbox.
             */
            environment_id?: string | null;
            /** @description Agents that it may delegate to. */
            child_agent_ids?: string[];
            /**
             * @description Model calls that one turn may take. Default 50.
             * @example 50
             */
            max_steps?: number;
            /**
             * @description How deep delegation may go. Default 5.
             * @example 5
             */
            max_child_depth?: number;
            /**
             * @description Credits it may spend in a billing period; needs `per_agent_budgets`. Null: no limit of its own.
             * @example 500
             */
            budget_credits_per_period?: number | string | null;
            /**
             * @description Whether it may write memories. Default false.
             * @example false
             */
            memory_enabled?: boolean;
            /**
             * @description Yours to use; at most 16 KiB of JSON. Every key is kept; a number that a double cannot keep is refused, with `number_unsafe`.
             * @example {
             *       "cost_centre": "4711"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description What people call it.
             * @example Support agent
             */
            name?: string;
        };
        UpdateChatRequest: {
            /** @description True closes the chat and stops what it does. False is refused for an archived chat, and changes nothing otherwise. */
            archived?: boolean;
            /** @description Open to every member of the organization, with all chats that it has delegated to. Only its creator may change this. */
            shared?: boolean;
            /**
             * @description What the chat is about. Null: none.
             * @example Invoices of March
             */
            title?: string | null;
        };
        UpdateInvitationRequest: {
            /**
             * @description The new role. Only an owner can raise it to ADMIN or OWNER.
             * @example MEMBER
             */
            role: components["schemas"]["OrgRole"];
        };
        UpdateMeRequest: {
            /**
             * @description New name.
             * @example Ada King
             */
            name?: string;
            /**
             * Format: uri
             * @description New picture; null removes it.
             * @example https://example.com/ada.png
             */
            avatar_url?: string | null;
        };
        UpdateMemberRequest: {
            /**
             * @description The new role. Only an owner can give ADMIN or OWNER.
             * @example ADMIN
             */
            role: components["schemas"]["OrgRole"];
        };
        UpdateOrgLimitsRequest: {
            /**
             * @description Key of the model that agents take which name none; null clears it.
             * @example claude-sonnet-5-5
             */
            agent_default_model?: string | null;
            /**
             * @description Models that may be chosen for agents; empty or null: all. With entries, `agent_default_model` must be one of them.
             * @example [
             *       "claude-sonnet-5-5"
             *     ]
             */
            agent_model_allowlist?: string[] | null;
            /**
             * @description Dollars that chats may spend in a calendar month (UTC); null: no limit.
             * @example 500
             */
            budget_limit_usd?: number | string | null;
            /**
             * @description Key of the model that chats take; null clears it.
             * @example claude-sonnet-5-5
             */
            chat_default_model?: string | null;
            /**
             * @description Models that may be chosen for messages; empty or null: all. With entries, `chat_default_model` must be one of them.
             * @example [
             *       "claude-sonnet-5-5"
             *     ]
             */
            chat_model_allowlist?: string[] | null;
            /**
             * @description Key of the model that classifies what comes in; null clears it.
             * @example claude-sonnet-5-5
             */
            intake_classifier_default_model?: string | null;
            /**
             * @description Key of the model that steps of processes take; null clears it.
             * @example claude-sonnet-5-5
             */
            process_default_model?: string | null;
            /**
             * @description Models that may be chosen for prompt templates; empty or null: all.
             * @example [
             *       "claude-sonnet-5-5"
             *     ]
             */
            prompt_model_allowlist?: string[] | null;
            /**
             * @description Key of the model that chooses tools; null clears it.
             * @example claude-sonnet-5-5
             */
            tool_router_default_model?: string | null;
        };
        UpdateOrgRoutesRequest: {
            /**
             * @description By route slug. Only listed routes change. Setting needs `byo_keys`, clearing does not.
             * @example {
             *       "openai": {
             *         "api_key": "sk-...",
             *         "enabled": true
             *       },
             *       "google": {
             *         "enabled": false
             *       }
             *     }
             */
            routes: {
                [key: string]: components["schemas"]["OrgRouteChange"];
            };
        };
        UpdateOrgRuntimeRequest: {
            /**
             * @description Whether long chats are compacted.
             * @example true
             */
            compaction_enabled?: boolean | null;
            /**
             * @description Share of the context window at which a chat is compacted.
             * @example 0.8
             */
            compaction_threshold?: number | null;
            /**
             * @description Whether decisions of agents are recorded and asked for.
             * @example true
             */
            decision_log_enabled?: boolean | null;
            /**
             * @description Whether models may think before they answer. Setting it needs `direct_model_choice`.
             * @example true
             */
            thinking_enabled?: boolean | null;
        };
        UpdateOrganizationRequest: {
            /**
             * @description What people call it. The slug does not follow.
             * @example Acme Labs
             */
            name?: string;
            /**
             * @description Name for addresses.
             * @example acme-labs
             */
            slug?: string;
        };
        UploadResponse: {
            /**
             * Format: uuid
             * @description The file.
             */
            file_id: string;
            /**
             * @description Its name.
             * @example invoice.pdf
             */
            filename: string;
            /**
             * @description What it is, told from its bytes.
             * @example application/pdf
             */
            media_type: string;
            /** @description Its length. */
            size_bytes: number;
            /** @description SHA-256 of its bytes, in hex. */
            sha256: string;
            /**
             * Format: date-time
             * @description When it is removed, unless something refers to it by then.
             */
            expires_at: string | null;
        };
        UsageByAgent: {
            /**
             * @description Tokens of all kinds.
             * @example 18250
             */
            tokens: number;
            /**
             * Format: decimal
             * @description US dollars; null where the plan bills in credits.
             * @example 0.4215
             */
            cost_usd: string | null;
            /**
             * Format: decimal
             * @description Credits.
             * @example 42.15
             */
            credits: string;
            /**
             * @description Chats begun in the window.
             * @example 12
             */
            chats: number;
            /**
             * @description Turns dispatched in the window.
             * @example 48
             */
            turns: number;
            /**
             * Format: uuid
             * @description The agent; null for calls that no agent made.
             */
            agent_id: string | null;
            /**
             * @description Its name today.
             * @example Support
             */
            agent_name: string | null;
        };
        UsageByDay: {
            /**
             * @description Tokens of all kinds.
             * @example 18250
             */
            tokens: number;
            /**
             * Format: decimal
             * @description US dollars; null where the plan bills in credits.
             * @example 0.4215
             */
            cost_usd: string | null;
            /**
             * Format: decimal
             * @description Credits.
             * @example 42.15
             */
            credits: string;
            /**
             * @description Chats begun in the window.
             * @example 12
             */
            chats: number;
            /**
             * @description Turns dispatched in the window.
             * @example 48
             */
            turns: number;
            /**
             * Format: date
             * @description The day, in UTC. Days without use are listed too.
             * @example 2026-11-20
             */
            day: string;
        };
        UsageByFeature: {
            /**
             * @description Tokens of all kinds.
             * @example 18250
             */
            tokens: number;
            /**
             * Format: decimal
             * @description US dollars; null where the plan bills in credits.
             * @example 0.4215
             */
            cost_usd: string | null;
            /**
             * Format: decimal
             * @description Credits.
             * @example 42.15
             */
            credits: string;
            /**
             * @description What the call was for.
             * @example turn
             */
            feature: string;
            /**
             * @description Model calls.
             * @example 96
             */
            calls: number;
        };
        UsageByModel: {
            /**
             * @description Tokens of all kinds.
             * @example 18250
             */
            tokens: number;
            /**
             * Format: decimal
             * @description US dollars; null where the plan bills in credits.
             * @example 0.4215
             */
            cost_usd: string | null;
            /**
             * Format: decimal
             * @description Credits.
             * @example 42.15
             */
            credits: string;
            /**
             * @description Key of the model that answered.
             * @example mock-large
             */
            model_key: string;
            /**
             * @description Model calls.
             * @example 96
             */
            calls: number;
        };
        UsageSummaryResponse: {
            /**
             * @description The window that was asked for.
             * @example 30d
             */
            window: components["schemas"]["UsageWindow"];
            /**
             * Format: date-time
             * @description Begin of the window.
             * @example 2026-10-21T09:30:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description End of the window.
             * @example 2026-11-20T09:30:00.000Z
             */
            to: string;
            /** @description The sums. */
            totals: components["schemas"]["UsageTotals"];
            /** @description By day, oldest first. */
            by_day: components["schemas"]["UsageByDay"][];
            /** @description By agent, most tokens first. */
            by_agent: components["schemas"]["UsageByAgent"][];
            /** @description By model, most tokens first. */
            by_model: components["schemas"]["UsageByModel"][];
            /** @description By what the calls were for, most tokens first. */
            by_feature: components["schemas"]["UsageByFeature"][];
        };
        UsageTotals: {
            /**
             * @description Tokens of all kinds.
             * @example 18250
             */
            tokens: number;
            /**
             * Format: decimal
             * @description US dollars; null where the plan bills in credits.
             * @example 0.4215
             */
            cost_usd: string | null;
            /**
             * Format: decimal
             * @description Credits.
             * @example 42.15
             */
            credits: string;
            /**
             * @description Chats begun in the window.
             * @example 12
             */
            chats: number;
            /**
             * @description Turns dispatched in the window.
             * @example 48
             */
            turns: number;
        };
        /** @enum {string} */
        UsageWindow: "24h" | "7d" | "30d";
        UserInfo: {
            /**
             * Format: uuid
             * @description The user.
             */
            id: string;
            /**
             * Format: email
             * @description Their address.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description Their name.
             * @example Ada Lovelace
             */
            name: string;
            /**
             * Format: uri
             * @description Their picture.
             * @example https://example.com/ada.png
             */
            avatar_url: string | null;
            /**
             * @description Whether a mailed link has proven that the address is theirs. Until then no invitation to it is redeemed.
             * @example true
             */
            email_verified: boolean;
            /**
             * Format: date-time
             * @description When they signed up.
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the profile was changed last.
             * @example 2026-11-20T09:30:00.000Z
             */
            updated_at: string;
        };
        UserStatusResponse: {
            /**
             * Format: uuid
             * @description The user.
             */
            user_id: string;
            /**
             * @description Their address.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description False while the user is deactivated: no session, no API token works.
             * @example false
             */
            active: boolean;
            /**
             * Format: date-time
             * @description Since when the user is deactivated.
             * @example 2026-11-20T09:30:00.000Z
             */
            deactivated_at: string | null;
            /** @description Organizations that have no other owner. A fact to act on, not an obstacle. */
            sole_owner_org_ids: string[];
        };
        /** @description One problem of a request. */
        ValidationError: {
            /** @description Where: `body`, `query`, `path` or `header`, then the way down. */
            loc: (string | number)[];
            /** @description What is wrong, for a human. */
            msg: string;
            /**
             * @description What is wrong, for a program.
             * @enum {string}
             */
            type: "missing" | "string_type" | "int_parsing" | "float_parsing" | "bool_parsing" | "uuid_parsing" | "decimal_parsing" | "datetime_parsing" | "enum" | "literal_error" | "string_too_short" | "string_too_long" | "greater_than_equal" | "less_than_equal" | "too_short" | "too_long" | "dict_type" | "list_type" | "json_invalid" | "value_error" | "semantic.allowlist_needs_default" | "semantic.base_url_needs_own_key" | "semantic.cannot_unarchive" | "semantic.follows_root" | "semantic.exactly_one_required" | "semantic.idempotency_mismatch" | "semantic.instruction_too_long" | "semantic.masked_secret" | "semantic.model_not_allowed" | "semantic.model_unknown" | "semantic.not_continuable" | "semantic.nothing_to_retry" | "semantic.number_unsafe" | "semantic.not_disputed" | "semantic.password_incorrect" | "semantic.plan_mismatch" | "semantic.replacement_cycle" | "semantic.reset_token_invalid" | "semantic.route_borrows_key" | "semantic.self_action" | "semantic.should_have_missing" | "semantic.unknown_reference" | "semantic.verification_invalid";
        };
        VerifyEmailRequest: {
            /** @description Secret of the mailed link. */
            token: string;
        };
        VerifyEmailResponse: {
            /** @description Whose address is proven now. */
            user: components["schemas"]["UserInfo"];
            /** @description Where the user is a member, by the invitations that waited, too. */
            memberships: components["schemas"]["MembershipInfo"][];
        };
        WaitlistEntryResponse: {
            /**
             * Format: uuid
             * @description The entry.
             */
            id: string;
            /**
             * @description Address of whoever asked.
             * @example grace@example.com
             */
            email: string;
            /**
             * @description Their name, when they gave one.
             * @example Grace Hopper
             */
            name: string | null;
            /**
             * @description What they wrote.
             * @example We would like to automate our support inbox.
             */
            note: string | null;
            /**
             * @description Where the request stands.
             * @example pending
             */
            status: components["schemas"]["WaitlistStatus"];
            /**
             * Format: date-time
             * @description When they asked last.
             * @example 2026-11-20T09:30:00.000Z
             */
            asked_at: string;
            /**
             * Format: date-time
             * @description When they were let in.
             */
            admitted_at: string | null;
            /**
             * Format: date-time
             * @description When the request was put aside.
             */
            dismissed_at: string | null;
            /**
             * Format: date-time
             * @description When the admission mail was handed over last.
             */
            last_mailed_at: string | null;
        };
        WaitlistListResponse: {
            /** @description The rows of this page. */
            items: components["schemas"]["WaitlistEntryResponse"][];
            /** @description The full matching count, never the page size. */
            total: number;
            /** @description Pass as `offset` for the next page; null on the last one. */
            next_offset: number | null;
        };
        /** @enum {string} */
        WaitlistStatus: "pending" | "admitted" | "dismissed" | "registered";
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Seconds after which the same request may be answered otherwise. */
        "Retry-After": number;
        /** @description `true` where this is the answer to an earlier request with the same key. */
        "Idempotency-Replayed": "true";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "platformAdmins.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlatformAdminResponse"][];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "platformAdmins.add": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddPlatformAdminRequest"];
            };
        };
        responses: {
            /** @description What was made. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlatformAdminResponse"];
                };
            };
            /** @description `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `user_not_found`: nobody has registered with the address. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "platformAdmins.remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user. */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "allowedEmails.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AllowedEmailResponse"][];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "allowedEmails.add": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddAllowedEmailRequest"];
            };
        };
        responses: {
            /** @description What was made. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AllowedEmailResponse"];
                };
            };
            /** @description `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "allowedEmails.remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The allowed email. */
                allowed_email_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminAudit.platform": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
                /** @description Only this action. */
                action?: string;
                /** @description Only what this user did. */
                actor_id?: string;
                /** @description Only what concerns this organization. */
                org_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlatformAuditResponse"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminOrgs.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
                /** @description Part of a name or slug, without regard to case. */
                q?: string;
                /** @description Code of the plan they are subscribed to; `__none__` for those without a subscription. */
                plan_code?: string;
                /** @description Only suspended ones, or only those that are not. */
                suspended?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgListResponse"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminOrgs.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgDetailResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminAudit.organization": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgAuditResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminMembers.add": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AdminAddMemberRequest"];
            };
        };
        responses: {
            /** @description What was made. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgMemberInfo"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminMembers.remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The user. */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminMembers.setRole": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The user. */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AdminSetRoleRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgMemberInfo"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminOrgs.suspend": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgSuspensionResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminOrgs.unsuspend": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgSuspensionResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminOrgs.usage": {
        parameters: {
            query?: {
                /** @description The window, ending now. */
                window?: components["schemas"]["UsageWindow"];
            };
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageSummaryResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminSubscriptions.backfill": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscriptionBackfillRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionBackfillResponse"];
                };
            };
            /** @description `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: there is no such organization or plan. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminUsers.deactivate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user. */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserStatusResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminUsers.reactivate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user. */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserStatusResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminWaitlist.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
                /** @description Only entries in this state. */
                status?: components["schemas"]["WaitlistStatus"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitlistListResponse"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminWaitlist.dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The waitlist. */
                waitlist_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitlistEntryResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminWaitlist.invite": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The waitlist. */
                waitlist_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitlistEntryResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "adminWaitlist.resend": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The waitlist. */
                waitlist_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitlistEntryResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `platform_admin_required`: the caller is no operator. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_unavailable`: the service behind cannot be reached. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `upstream_timeout`: the service behind did not answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "auth.login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthResponse"];
                };
            };
            /** @description `invalid_credentials`, or `user_deactivated` with the right password. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `too_many_attempts`, with `Retry-After`: five log-ins of the address have failed in 15 minutes; or `rate_limited`. `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "auth.logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "auth.me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MeResponse"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "auth.updateMe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateMeRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserInfo"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "password.change": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePasswordRequest"];
            };
        };
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "password.forgot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForgotPasswordRequest"];
            };
        };
        responses: {
            /** @description Taken in; it goes on after this answer. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceivedResponse"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "password.reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResetPasswordRequest"];
            };
        };
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "auth.refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthResponse"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "auth.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionListResponse"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "auth.end": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session. */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "auth.signup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignupRequest"];
            };
        };
        responses: {
            /** @description What was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthResponse"];
                };
            };
            /** @description `registration_not_allowed`: the address may not sign up (yet); `context.waitlist_url` says where to ask. `invitation_email_mismatch`: the invitation is for another address. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: there is no such invitation. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `email_taken`: the address has an account. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `invitation_gone`: it was revoked or has expired. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "emailProof.verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyEmailRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerifyEmailResponse"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "emailProof.resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ResendVerificationRequest"];
            };
        };
        responses: {
            /** @description Taken in; it goes on after this answer. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceivedResponse"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "invitationLinks.preview": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The last part of the mailed link. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationPreviewResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `invitation_gone`: it was accepted or revoked, or is too old. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "invitationLinks.accept": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The last part of the mailed link. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `invitation_email_mismatch`: it is for another address than the caller's. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `invitation_gone`: it was accepted or revoked, or is too old. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "models.catalog": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ModelResponse_"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "organizations.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationListResponse"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "organizations.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateOrganizationRequest"];
            };
        };
        responses: {
            /** @description What was made. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationResponse"];
                };
            };
            /** @description `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `entitlement_exceeded`: the caller owns as many organizations as one user may. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `slug_taken`: another organization has the given slug. `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "organizations.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "organizations.remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Taken in; it goes on after this answer. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationDeletedResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "organizations.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateOrganizationRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `slug_taken`: another organization has the slug. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agents.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
                /** @description Part of a name, slug or description. */
                q?: string;
                /** @description Only agents of this team, or `none`. */
                team_id?: string;
                /** @description Only agents of this project, or `none`. */
                project_id?: string;
            };
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AgentResponse_"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agents.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAgentRequest"];
            };
        };
        responses: {
            /** @description What was made. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `slug_taken`. `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agents.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agents.remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `agent_in_use`, with the agents that name it. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agents.update": {
        parameters: {
            query?: {
                /** @description Seal the edited draft and deploy it at once. */
                deploy?: boolean;
            };
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateAgentRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `slug_taken`; `agent_in_use` when other agents grant the old slug as a tool. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chats.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatListResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chats.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateChatRequest"];
            };
        };
        responses: {
            /** @description What was made. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chats.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chatControl.remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chatControl.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateChatRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `creator_only`: only who began the chat may change `shared`. `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chatControl.continue": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `credits_exhausted` or `budget_exceeded`: what closed the chat has not passed. */
            402: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `agent_deleted`: the chat can only be read. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "cost.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatCostBreakdownResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chatControl.diagnosis": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatDiagnosisResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chats.send": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendMessageRequest"];
            };
        };
        responses: {
            /** @description Taken in; it goes on after this answer. */
            202: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SendMessageResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `agent_deleted`: the chat can only be read. `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `dispatch_failed`: stored as `context.message_id`, but not dispatched. `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chatPresence.heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatPresenceResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chatPresence.leave": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatPresenceResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chatControl.retry": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was made. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `agent_deleted`: there is nothing that a new chat could run on. `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `dispatch_failed`: the new chat is stored as `context.chat_id`, but nothing runs. Continue it, or repeat the request with the same `Idempotency-Key`. `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chatControl.stop": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StopChatRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopChatResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chats.stream": {
        parameters: {
            query?: {
                /** @description Resume after this event id. `Last-Event-ID` wins over it. */
                after?: number;
                /** @description Instead of the header, where none can be sent: from `POST /api/realtime/tickets`. */
                ticket?: string;
            };
            header?: {
                /** @description The last event that the client has seen. */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events. The schema is that of each one’s `data:` line; `event:` is its `type`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["ChatStreamEvent"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chatControl.terminate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TerminateChatResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "timeline.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationTimelineResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chats.todos": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ChatTodo_"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "toggles.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TogglesResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "toggles.change": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The agent. */
                agent_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeTogglesRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TogglesResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentDecisions.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
                /** @description Only decisions of this kind. */
                kind?: components["schemas"]["DecisionKind"];
                /** @description Only decisions that stand so. */
                review_status?: components["schemas"]["DecisionReviewStatus"];
                /** @description Only those that depart from their rule, or only those that do not. */
                deviation?: boolean;
                /** @description Only those that the agent had to determine itself. `false` is no filter. */
                determination?: boolean;
                /** @description The archive, or the live queue; never both. */
                archived?: boolean;
            };
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentDecisionPage"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentDecisions.archive": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ArchiveDecisionsRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionBulkUpdateResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentDecisions.groups": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
                /** @description Only decisions of this kind. */
                kind?: components["schemas"]["DecisionKind"];
                /** @description Only decisions that stand so. */
                review_status?: components["schemas"]["DecisionReviewStatus"];
                /** @description Only those that depart from their rule, or only those that do not. */
                deviation?: boolean;
                /** @description Only those that the agent had to determine itself. `false` is no filter. */
                determination?: boolean;
                /** @description The archive, or the live queue; never both. */
                archived?: boolean;
            };
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_DecisionGroupItem_"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentDecisions.review": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgreeDecisionsRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionBulkUpdateResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentDecisions.unarchive": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ArchiveDecisionsRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionBulkUpdateResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentInstruction.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstructionResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentInstruction.saveDraft": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SaveInstructionDraftRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstructionResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `version_conflict`, with `current_version`. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentInstruction.discard": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentInstruction.publish": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstructionResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `no_draft`. `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentInstruction.revisions": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_InstructionRevisionResponse_"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentMemories.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AgentMemoryResponse_"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentMemories.add": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateMemoryRequest"];
            };
        };
        responses: {
            /** @description What was made. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentMemoryResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentMemories.remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The memory. */
                memory_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentRevisions.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AgentRevisionResponse_"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentRevisions.seal": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The latest revision, which seals the same already. */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentRevisionResponse"];
                };
            };
            /** @description A new revision. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentRevisionResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentRevisions.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The revision. */
                revision_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentRevisionResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "agentRevisions.deploy": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The revision. */
                revision_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RolloutDetailResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "rollouts.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RolloutListResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "rollouts.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or slug of the agent. */
                agent_id: string;
                /** @description The rollout. */
                rollout_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RolloutDetailResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "organizationAudit.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationAuditResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_role`; `entitlement_required` when the plan does not include `audit_log`. `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chatDecisions.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The chat. */
                chat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionListResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chatDecisions.review": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The chat. */
                chat_id: string;
                /** @description The decision. */
                decision_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReviewDecisionRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "chatDecisions.revisionDraft": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The chat. */
                chat_id: string;
                /** @description The decision. */
                decision_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevisionDraftResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "events.follow": {
        parameters: {
            query?: {
                /** @description Up to 50 of `chat:{id}`, `inbox:{id}`, `run:{id}`, `env:{id}` and `org`, separated by commas. */
                topics?: string;
                /** @description Resume after this frame id, where `Last-Event-ID` cannot be sent; it wins over this. */
                after?: string;
                /** @description Instead of the header, where none can be sent: from `POST /api/realtime/tickets`. */
                ticket?: string;
            };
            header?: {
                /** @description The id of the last frame that the client has seen. */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events. The schema is that of each one’s `data:` line; `event:` is its `type`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["TopicStreamEvent"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "files.get": {
        parameters: {
            query?: never;
            header?: {
                /** @description One range of bytes. */
                Range?: string;
            };
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The file. */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The bytes of the range. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `range_not_satisfiable`: the file has no such bytes. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "hitl.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
                /** @description Only requests in this state. */
                status?: components["schemas"]["HitlStatus"];
                /** @description Only requests of this chat. */
                chat_id?: string;
                /** @description Only requests of this process run. */
                run_id?: string;
                /** @description Only requests of this agent. */
                agent_id?: string;
            };
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_HitlRequest_"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "hitl.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The request. */
                request_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HitlRequest"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "hitl.answer": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The organization. */
                org_id: string;
                /** @description The request. */
                request_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnswerHitlRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnsweredHitlRequest"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `already_resolved`, with its `status`. `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberListResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "invitations.list": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationResponse"][];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "invitations.invite": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InviteRequest"];
            };
        };
        responses: {
            /** @description A member or an invitation; `kind` tells. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberResponse"] | components["schemas"]["InvitationResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_role`; `entitlement_exceeded` when members and open invitations take all seats of the plan. `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `already_member`; `invitation_pending` when the address has an open invitation. `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "invitations.revoke": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The invitation. */
                invitation_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "invitations.setRole": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The invitation. */
                invitation_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateInvitationRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "invitations.inviteAlias": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InviteRequest"];
            };
        };
        responses: {
            /** @description A member or an invitation; `kind` tells. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberResponse"] | components["schemas"]["InvitationResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_role`; `entitlement_exceeded` when members and open invitations take all seats of the plan. `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `already_member`; `invitation_pending` when the address has an open invitation. `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.leave": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `last_owner`: the organization would have no owner who can sign in. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The membership, `id` of a member. */
                member_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The membership, `id` of a member. */
                member_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `last_owner`: the organization would have no owner who can sign in. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.setRole": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The membership, `id` of a member. */
                member_id: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateMemberRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `last_owner`: the organization would have no owner who can sign in. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "models.config": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelConfigResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "models.modes": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelModesResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "models.models": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
                /** @description Only the chat models that may be chosen there. */
                scope?: components["schemas"]["ModelListScope"];
            };
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_OrgModelResponse_"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "inferenceSettings.getRoutes": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgRouteSettingsResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "inferenceSettings.updateRoutes": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateOrgRoutesRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgRouteSettingsResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "inferenceSettings.getLimits": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgLimitsResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "inferenceSettings.updateLimits": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateOrgLimitsRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgLimitsResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "inferenceSettings.getUsage": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgLimitsUsageResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "inferenceSettings.getRuntime": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgRuntimeSettingsResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "inferenceSettings.updateRuntime": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateOrgRuntimeRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgRuntimeSettingsResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "skills.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
                /** @description Part of a name, slug or description. */
                q?: string;
            };
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_SkillResponse_"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "skills.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSkillRequest"];
            };
        };
        responses: {
            /** @description What was made. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `slug_taken`. `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "skills.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The skill. */
                slug: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "skills.replace": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The skill. */
                slug: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutSkillRequest"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "skills.remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The skill. */
                slug: string;
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_role`: the role in it does not allow this. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `skill_in_use`, with the agents that mount it. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "files.upload": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description The file, with its name.
                     */
                    file: string;
                };
            };
        };
        responses: {
            /** @description What was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the file is larger than 50 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `multipart/form-data`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "orgUsage.get": {
        parameters: {
            query?: {
                /** @description The window, ending now. */
                window?: components["schemas"]["UsageWindow"];
            };
            header?: never;
            path: {
                /** @description The organization. */
                org_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageSummaryResponse"];
                };
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_org_member`: the caller is not in the organization, or there is none. `org_suspended`: it is suspended. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "tickets.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTicketRequest"];
            };
        };
        responses: {
            /** @description What was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TicketResponse"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: tickets cannot be kept right now. `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "tokens.list": {
        parameters: {
            query?: {
                /** @description Rows to return. Omitted: every row. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenListResponse"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "tokens.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat safe: the same key and body get the first answer again, for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTokenRequest"];
            };
        };
        responses: {
            /** @description What was made. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateTokenResponse"];
                };
            };
            /** @description `idempotency_key_invalid`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `entitlement_exceeded`: a user has at most 50 API tokens that work. `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_in_progress`: the first request with this key is still being handled. `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. `idempotency_mismatch`: the key came with another request before. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "tokens.revoke": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The token. */
                token_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `bad_request`: the path is not percent-encoded UTF-8. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_authenticated`: no valid bearer token. `user_deactivated`: its user is locked out. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_scope`: the API token is not good for this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: nothing there, or nothing that the caller may see. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "waitlist.join": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JoinWaitlistRequest"];
            };
        };
        responses: {
            /** @description Taken in; it goes on after this answer. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceivedResponse"];
                };
            };
            /** @description `conflict`: somebody else has changed the same thing at this moment; try again. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: the body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: the body is not `application/json`. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request is not valid; every problem is listed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description `rate_limited`: too many requests. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: the database or another part cannot answer right now. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
