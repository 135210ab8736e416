-- Token amounts and prices are integers in the code, too.
CREATE TYPE "public"."purchase_status" AS ENUM('pending', 'paid', 'failed', 'expired', 'refunding', 'refunded', 'charged_back');--> statement-breakpoint
ALTER TYPE "public"."transfer_reason" ADD VALUE 'purchase' AFTER 'adjustment';--> statement-breakpoint
ALTER TYPE "public"."transfer_reason" ADD VALUE 'purchase_refund' AFTER 'purchase';--> statement-breakpoint
ALTER TYPE "public"."transfer_reason" ADD VALUE 'purchase_refund_undone' AFTER 'purchase_refund';--> statement-breakpoint
ALTER TYPE "public"."transfer_reason" ADD VALUE 'chargeback' AFTER 'purchase_refund_undone';--> statement-breakpoint
ALTER TYPE "public"."transfer_reason" ADD VALUE 'debt_payment' AFTER 'chargeback';--> statement-breakpoint
CREATE TABLE "purchases" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"pack" text NOT NULL,
	-- squawk-ignore prefer-bigint-over-int
	"tokens" integer NOT NULL,
	-- squawk-ignore prefer-bigint-over-int
	"amount" integer NOT NULL,
	"currency" text NOT NULL,
	"status" "purchase_status" DEFAULT 'pending' NOT NULL,
	"return_url" text NOT NULL,
	"provider" text NOT NULL,
	"livemode" boolean NOT NULL,
	"session_id" text,
	"checkout_url" text,
	"payment_id" text,
	"receipt_url" text,
	-- squawk-ignore prefer-bigint-over-int
	"refunded_tokens" integer DEFAULT 0 NOT NULL,
	-- squawk-ignore prefer-bigint-over-int
	"refunded_amount" integer DEFAULT 0 NOT NULL,
	-- squawk-ignore prefer-bigint-over-int
	"refunding_tokens" integer DEFAULT 0 NOT NULL,
	-- squawk-ignore prefer-bigint-over-int
	"refunding_amount" integer DEFAULT 0 NOT NULL,
	"refund_transfer_id" text collate "C",
	"dispute_id" text,
	"disputed_at" timestamp (3) with time zone,
	"closed_disputes" text[] DEFAULT '{}' NOT NULL,
	-- squawk-ignore prefer-bigint-over-int
	"debt" integer DEFAULT 0 NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"paid_at" timestamp (3) with time zone,
	"look_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "purchases_have_a_price" CHECK ("purchases"."tokens" > 0 and "purchases"."amount" > 0),
	CONSTRAINT "purchases_refund_at_most_everything" CHECK ("purchases"."refunded_tokens" >= 0 and "purchases"."refunding_tokens" >= 0 and "purchases"."refunded_amount" >= 0
        and "purchases"."refunding_amount" >= 0 and "purchases"."refunded_tokens" + "purchases"."refunding_tokens" <= "purchases"."tokens"
        and "purchases"."refunded_amount" + "purchases"."refunding_amount" <= "purchases"."amount"),
	CONSTRAINT "purchases_debt_is_a_part" CHECK ("purchases"."debt" between 0 and "purchases"."tokens")
);
--> statement-breakpoint
-- squawk-ignore prefer-bigint-over-int
ALTER TABLE "token_balances" ADD COLUMN "bought" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- squawk-ignore prefer-bigint-over-int
ALTER TABLE "token_balances" ADD COLUMN "debt" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- squawk-ignore prefer-bigint-over-int
ALTER TABLE "token_transfers" ADD COLUMN "bought" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "token_transfers" ADD COLUMN "purchase_id" text collate "C";--> statement-breakpoint
ALTER TABLE "purchases" ADD CONSTRAINT "purchases_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "purchases_history" ON "purchases" USING btree ("user_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "purchases_session" ON "purchases" USING btree ("session_id");--> statement-breakpoint
CREATE UNIQUE INDEX "purchases_payment" ON "purchases" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "purchases_to_look_at" ON "purchases" USING btree ("look_at") WHERE look_at is not null;--> statement-breakpoint
ALTER TABLE "token_balances" ADD CONSTRAINT "token_balances_bought_is_a_part" CHECK ("token_balances"."bought" between 0 and "token_balances"."balance" and "token_balances"."debt" >= 0) NOT VALID;--> statement-breakpoint
ALTER TABLE "token_transfers" ADD CONSTRAINT "token_transfers_bought_is_a_part" CHECK ("token_transfers"."bought" between 0 and "token_transfers"."amount") NOT VALID;
